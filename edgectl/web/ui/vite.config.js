// No inline code and no data URLs: the server's Content-Security-Policy allows neither.
export default {
  esbuild: {jsx: 'automatic', jsxImportSource: 'preact'},
  build: {
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: {polyfill: false},
    reportCompressedSize: false,
    cssCodeSplit: false,
  },
};

// Serves the page from its sources, with the API of a running `edgectl web` on its usual port.
import config from './vite.config.js';

export default {...config, server: {proxy: {'/api': 'http://127.0.0.1:9080'}}};

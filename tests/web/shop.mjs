// A shop behind a running edge-standalone, with traffic: what screenshots are taken of, and what tests of many kinds of
// objects look at. Everything is on loopback addresses and in one folder.
import {execFileSync, spawn} from 'node:child_process';
import {mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import http from 'node:http';

const api = 'edgeproxy.io/v1alpha1';
const pathMatch = (value, type = 'PathPrefix') => ({path: {type, value}});

function route(namespace, name, host, rules, more = {}) {
  return {apiVersion: api, kind: 'ProxyRoute', metadata: {namespace, name},
          spec: {parentRefs: [{namespace: 'edge-system', name: more.gateway ?? 'web'}], ...(host ? {hostnames: [].concat(host)} : {}), rules}};
}

const policy = (namespace, name, type, kind, target, field, settings) =>
  ({apiVersion: api, kind: 'ProxyPolicy', metadata: {namespace, name}, spec: {type, targetRef: {kind, ...target}, [field]: settings}});

/// A certificate in PEM with its key, by the openssl of the system.
function certificate(folder, name, names, days) {
  const [key, crt] = [`${folder}/${name}.key`, `${folder}/${name}.crt`];
  execFileSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', key, '-out', crt, '-days', String(days),
                           '-subj', `/CN=${names[0]}`, '-addext', `subjectAltName=${names.map((one) => `DNS:${one}`).join(',')}`], {stdio: 'ignore'});
  return {'tls.crt': readFileSync(crt).toString('base64'), 'tls.key': readFileSync(key).toString('base64')};
}

/// `ports`: of the backends by name; `planted`: the text that no reply may contain.
export function shopObjects(folder, ports, planted) {
  const secret = (namespace, name, data, type = 'Opaque') => ({apiVersion: 'v1', kind: 'Secret', metadata: {namespace, name}, type, data});
  const base64 = (text) => Buffer.from(text).toString('base64');
  const backend = (namespace, name, of, more = {}) =>
    ({apiVersion: api, kind: 'ProxyBackend', metadata: {namespace, name}, spec: {endpoints: of.map((port) => ({address: `127.0.0.1:${port}`})), ...more}});
  const listener = (name, protocol, hostnames, secretName) =>
    ({name, port: 443, protocol, hostnames, ...(secretName ? {tls: {certificateRefs: [{name: secretName}]}} : {})});
  const wan = (name, site, role, provider, more = {}) =>
    ({apiVersion: api, kind: 'WANLink', metadata: {namespace: 'edge-system', name}, spec: {siteRef: site, role, provider, ...more}});
  const site = (name, role, region) =>
    ({apiVersion: api, kind: 'Site', metadata: {namespace: 'edge-system', name}, spec: {role, location: {region}}});
  return [
    ...['edge-system', 'shop', 'api', 'media'].map((name) => ({apiVersion: 'v1', kind: 'Namespace', metadata: {name}})),
    secret('edge-system', 'shop-example', certificate(folder, 'shop', ['shop.example', '*.shop.example'], 81), 'kubernetes.io/tls'),
    secret('edge-system', 'api-example', certificate(folder, 'api', ['api.example'], 12), 'kubernetes.io/tls'),
    secret('edge-system', 'media-example', certificate(folder, 'media', ['media.example', 'img.media.example'], 3), 'kubernetes.io/tls'),
    secret('shop', 'staff', {htpasswd: base64('ann:{SHA256}K7gNU3sdo+OL0wNhqoVWhr3g6s1xYv72ol/pe/Unols=\n'), note: base64(planted)}),
    {apiVersion: 'gateway.networking.k8s.io/v1beta1', kind: 'ReferenceGrant', metadata: {namespace: 'edge-system', name: 'routes'},
     spec: {from: ['shop', 'api', 'media'].map((namespace) => ({group: 'edgeproxy.io', kind: 'ProxyRoute', namespace})), to: [{group: 'edgeproxy.io', kind: 'ProxyGateway'}]}},
    {apiVersion: api, kind: 'ProxyVIP', metadata: {namespace: 'edge-system', name: 'public', annotations: {note: planted}},
     spec: {address: '203.0.113.10/32', mode: 'BGP', ports: [80, 443], nodeSelector: {edge: 'none'},
            bgp: {localAS: 64512, peers: [{address: '203.0.113.1', as: 64500, password: planted}]}}},
    {apiVersion: api, kind: 'ProxyGateway', metadata: {namespace: 'edge-system', name: 'web'},
     spec: {listeners: [{name: 'http', port: 80, protocol: 'HTTP'}, listener('https', 'HTTPS', ['shop.example', '*.shop.example'], 'shop-example')],
            accessLog: {enabled: true}, tracing: {enabled: true}}},
    {apiVersion: api, kind: 'ProxyGateway', metadata: {namespace: 'edge-system', name: 'services'},
     spec: {listeners: [listener('api', 'HTTPS', ['api.example'], 'api-example'), listener('media', 'HTTPS', ['media.example', 'img.media.example'], 'media-example')],
            accessLog: {enabled: true}, tracing: {enabled: true}}},
    route('shop', 'front', ['shop.example', 'www.shop.example'], [{backendRef: {name: 'front'}}]),
    route('shop', 'cart', 'shop.example', [
      {matches: [{...pathMatch('/cart'), headers: [{name: 'X-Env', value: 'preview'}]}], backendRef: {name: 'cart-next'}},
      {matches: [pathMatch('/cart')], backendRefs: [{name: 'cart', weight: 95}, {name: 'cart-next', weight: 5}]}]),
    route('shop', 'checkout', 'shop.example', [{matches: [pathMatch('/checkout')], backendRef: {name: 'cart'},
      filters: [{type: 'RequestHeaderModifier', requestHeaderModifier: {set: [{name: 'Authorization', value: `Bearer ${planted}`}]}}]}]),
    route('shop', 'search', 'shop.example', [{matches: [pathMatch('/search')], backendRef: {name: 'search'}}]),
    route('shop', 'staff', 'staff.shop.example', [{backendRef: {name: 'staff'}}]),
    route('api', 'orders', 'api.example', [{matches: [pathMatch('/v1/orders')], backendRef: {name: 'orders'}}], {gateway: 'services'}),
    route('api', 'prices', 'api.example', [{matches: [pathMatch('/v1/prices')], backendRef: {name: 'prices'}}], {gateway: 'services'}),
    route('media', 'images', ['media.example', 'img.media.example'], [{backendRef: {name: 'images'}}], {gateway: 'services'}),
    backend('shop', 'front', [ports.front, ports.front2]), backend('shop', 'cart', [ports.cart, ports.cart2]), backend('shop', 'cart-next', [ports.next]),
    backend('shop', 'search', [ports.search, 1], {healthCheck: {interval: '1s', timeout: '500ms', httpHealthCheck: {path: '/healthz'}}}),
    backend('shop', 'staff', [ports.staff]), backend('api', 'orders', [ports.orders]), backend('api', 'prices', [ports.prices]),
    {apiVersion: api, kind: 'ProxyBackend', metadata: {namespace: 'media', name: 'images'}, spec: {url: `http://127.0.0.1:${ports.images}`}},
    policy('shop', 'staff-login', 'BasicAuth', 'ProxyRoute', {name: 'staff'}, 'basicAuth', {realm: 'Staff', secretRef: {name: 'staff'}}),
    policy('shop', 'cart-rate', 'RateLimit', 'ProxyRoute', {name: 'cart'}, 'rateLimit', {requestsPerSecond: 500, burst: 1000}),
    policy('edge-system', 'headers', 'SecurityHeaders', 'ProxyGateway', {name: 'web'}, 'securityHeaders', {hsts: {enabled: true}}),
    policy('edge-system', 'offices', 'IPAccess', 'ProxyGateway', {name: 'services'}, 'ipAccess', {allow: ['127.0.0.0/8', '10.0.0.0/8']}),
    site('hamburg', 'hub', 'eu-north'), site('porto', 'spoke', 'eu-west'),
    wan('hamburg-fibre', 'hamburg', 'primary', 'Nordnetz', {bandwidth: {downMbps: 1000, upMbps: 500}}),
    wan('hamburg-lte', 'hamburg', 'backup', 'Funknetz', {metered: true}), wan('porto-fibre', 'porto', 'primary', 'Onda'),
    {apiVersion: api, kind: 'WANPolicy', metadata: {namespace: 'edge-system', name: 'voice'},
     spec: {priority: 100, matches: [{protocols: ['UDP'], dscp: [46]}], path: {strategy: 'LowestLatency'}, sla: {maxLatency: '60ms'}}},
  ];
}

/// Answers after some milliseconds, now and then with an error.
function serveBackend(name) {
  let turn = 0;
  const server = http.createServer((request, response) => {
    ++turn;
    const broken = name === 'search' && turn % 23 === 0 && request.url !== '/healthz';
    setTimeout(() => {
      response.writeHead(broken ? 503 : 200, {'Content-Type': 'text/plain'});
      response.end(`${name}\n`);
    }, name === 'search' ? 25 + (turn % 7) * 12 : 2 + (turn % 5) * 3);
  });
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}

/// Resolves with the line of a child's output that matches.
function lineOf(child, stream, pattern) {
  return new Promise((resolve, reject) => {
    let text = '';
    child[stream].on('data', (data) => {
      text += data;
      const found = pattern.exec(text);
      if (found) resolve(found);
    });
    child.on('exit', (code) => reject(new Error(`${child.spawnargs[0]} ended with ${code}: ${text}`)));
  });
}

/// A ProxyRoute to `shop/front` by each path of one host, in JSON.
export function manyRoutes(count) {
  return Array.from({length: count}, (_, index) => route(`team-${index % 7}`, `r${index}`, `h${index % 50}.many.example`, [{matches: [pathMatch(`/p${index}`)], backendRef: {name: `b${index % 300}`}}]));
}

const kVisits = [
  ['shop.example', '/', 6], ['www.shop.example', '/offers', 2], ['shop.example', '/cart?item=7', 4], ['shop.example', '/search?q=lamp', 3],
  ['shop.example', '/checkout', 1], ['staff.shop.example', '/', 1, 'Basic YW5uOnNlY3JldA=='], ['other.example', '/', 1],
];

export class Shop {
  children = [];
  servers = [];
  timer = null;

  constructor(bin, folder, planted) {
    Object.assign(this, {bin, folder, planted});
  }

  async start() {
    mkdirSync(`${this.folder}/config`, {recursive: true});
    const ports = {};
    for (const name of ['front', 'front2', 'cart', 'cart2', 'next', 'search', 'staff', 'orders', 'prices', 'images']) {
      const server = await serveBackend(name);
      this.servers.push(server);
      ports[name] = server.address().port;
    }
    const objects = shopObjects(this.folder, ports, this.planted);
    writeFileSync(`${this.folder}/config/shop.yaml`, objects.map((one) => JSON.stringify(one)).join('\n---\n'));
    const any = ['--metrics-listen', '--health-listen', '--api-listen', '--otlp-listen', '--traces-listen'].flatMap((flag) => [flag, '127.0.0.1:0']);
    const proxy = this.run('edge-standalone', ['--config', `${this.folder}/config`, '--data-dir', `${this.folder}/data`, '--access-log', 'off', '--ephemeral-ports', '--threads', '1', ...any]);
    const listener = lineOf(proxy, 'stderr', /listener http on \S*?:(\d+)/);
    await lineOf(proxy, 'stdout', /ready program=/);
    this.port = Number((await listener)[1]);
    this.kubeconfig = `${this.folder}/data/kubeconfig`;
    const web = this.run('edgectl', ['web', '--listen', '127.0.0.1:0'], {KUBECONFIG: this.kubeconfig, HOME: this.folder});
    this.url = (await lineOf(web, 'stdout', /Serving on (http\S+?)\/?\n/))[1];
    this.timer = setInterval(() => this.visit(), 100);
    return this;
  }

  run(program, words, environment = {}) {
    const child = spawn(`${this.bin}/${program}`, words, {env: {...process.env, ...environment}, stdio: ['ignore', 'pipe', 'pipe']});
    child.stdout.resume();
    child.stderr.resume();
    this.children.push(child);
    return child;
  }

  edgectl(...words) {
    return execFileSync(`${this.bin}/edgectl`, words, {env: {...process.env, KUBECONFIG: this.kubeconfig, HOME: this.folder}, encoding: 'utf8'});
  }

  /// One round of requests.
  visit() {
    for (const [host, path, count, authorization] of kVisits) {
      for (let i = 0; i < count; ++i) {
        http.get({host: '127.0.0.1', port: this.port, path, headers: {Host: host, ...(authorization ? {Authorization: authorization} : {})}}, (response) => response.resume()).on('error', () => {});
      }
    }
  }

  /// What controllers of other machines would say.
  report(type, name, status) {
    this.edgectl('patch', type, name, '-n', 'edge-system', '--type', 'merge', '--subresource', 'status', '-p', JSON.stringify({status}));
  }

  stop() {
    clearInterval(this.timer);
    for (const child of this.children) child.kill('SIGKILL');
    for (const server of this.servers) {
      server.close();
      server.closeAllConnections();
    }
  }
}

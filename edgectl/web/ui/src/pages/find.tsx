/// Leads to the page of a route, gateway or backend by its name: several kinds have them.
import {useEffect, useState} from 'preact/hooks';
import {call, type Kind} from '../api';
import {Empty, Heading, Loading} from '../parts/basics';
import {navigate, objectPath} from '../router';
import {texts} from '../texts';

const kPlurals: Record<string, string[]> = {
  route: ['proxyroutes', 'httproutes', 'grpcroutes', 'tlsroutes', 'tcproutes', 'udproutes', 'ingresses'],
  gateway: ['proxygateways', 'gateways', 'ingressclasses'],
  backend: ['proxybackends', 'services'],
};

async function find(part: string, namespace: string, name: string): Promise<string | null> {
  const kinds = await call<Kind[]>('/api/kinds');
  for (const plural of kPlurals[part] ?? []) {
    if (!kinds.some((kind) => kind.plural === plural && kind.count > 0)) continue;
    // What an Ingress is translated to is named after it: `shop:1`.
    const path = objectPath(plural, plural === 'ingressclasses' ? '' : namespace, name.replace(/:.*/, ''));
    const found = await call(`/api${path}`).then(() => true, () => false);
    if (found) return path;
  }
  return null;
}

export function FindPage({part, namespace, name}: {part: string; namespace: string; name: string}) {
  const [missing, miss] = useState(false);
  useEffect(() => {
    let left = false;
    find(part, namespace, name).then(
      (path) => {
        if (left) return;
        if (path === null) miss(true);
        else navigate(path, true);
      },
      () => miss(true),
    );
    return () => {
      left = true;
    };
  }, [part, namespace, name]);
  return (
    <>
      <Heading title={name} />
      {missing ? <Empty text={texts.objectNotFound(`${namespace}/${name}`)}><a href="/">{texts.toOverview}</a></Empty> : <Loading />}
    </>
  );
}

/// Texts in which requests stand, as the compiler writes them: each links to its explanation.
import {texts} from '../texts';
import {witnessPath} from '../witness';

export function Witness({text, program = ''}: {text: string; program?: string}) {
  const path = witnessPath(text, program);
  return path === null ? <code class="wrap">{text}</code> : <a href={path} title={texts.pages.explain}><code class="wrap">{text}</code></a>;
}

/// `…` in backticks is code; where it is a request, a link.
export function Prose({text}: {text: string}) {
  return <>{text.split('`').map((piece, index) => (index % 2 === 0 ? piece : <Witness key={index} text={piece} />))}</>;
}

/// The editor, loaded late. It lives in a shadow root: there its styles are constructed sheets, which the server's
/// Content-Security-Policy allows, unlike elements of style.
import {autocompletion, closeBrackets, closeBracketsKeymap, type CompletionContext, type CompletionResult, completionKeymap} from '@codemirror/autocomplete';
import {defaultKeymap, history, historyKeymap} from '@codemirror/commands';
import {yaml} from '@codemirror/lang-yaml';
import {bracketMatching, HighlightStyle, indentOnInput, indentUnit, syntaxHighlighting} from '@codemirror/language';
import {type Diagnostic as Mark, lintKeymap, setDiagnostics} from '@codemirror/lint';
import {EditorState} from '@codemirror/state';
import {drawSelection, EditorView, highlightActiveLine, highlightActiveLineGutter, highlightSpecialChars, keymap, lineNumbers} from '@codemirror/view';
import {tags} from '@lezer/highlight';
import type {FieldTables} from '../edit-api';
import {fieldsAt, namedAt, placeAt} from './complete';

export interface EditorMark {
  from: number;
  to: number;
  severity: 'error' | 'warning' | 'note';
  message: string;
}

export interface Editor {
  setText(text: string): void;
  setMarks(marks: EditorMark[]): void;
  goTo(position: number): void;
  destroy(): void;
}

export interface EditorOptions {
  text: string;
  label: string;
  tables: () => FieldTables | undefined;
  names: (plural: string) => Promise<string[]>;
  onChange: (text: string) => void;
}

const underlined = (colour: string) => ({backgroundImage: 'none', textDecoration: `underline wavy ${colour}`, textUnderlineOffset: '3px'});

const theme = EditorView.theme({
  '&': {backgroundColor: 'var(--surface)', color: 'var(--text)', fontSize: '13px', border: '1px solid var(--line)', borderRadius: 'var(--radius)'},
  '&.cm-focused': {outline: '2px solid var(--accent)', outlineOffset: '1px'},
  '.cm-scroller': {fontFamily: 'var(--mono)', lineHeight: '1.55', minHeight: '22rem', maxHeight: '65vh', overflow: 'auto'},
  '.cm-content': {caretColor: 'var(--text)', padding: '.5rem 0'},
  '.cm-cursor': {borderLeftColor: 'var(--text)'},
  '.cm-gutters': {backgroundColor: 'var(--ground)', color: 'var(--muted)', border: 'none', borderRight: '1px solid var(--line)'},
  '.cm-activeLine, .cm-activeLineGutter': {backgroundColor: 'color-mix(in srgb, var(--raised) 60%, transparent)'},
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground':
    {backgroundColor: 'color-mix(in srgb, var(--accent) 25%, transparent)'},
  '.cm-lintRange-error': underlined('var(--bad)'),
  '.cm-lintRange-warning': underlined('var(--warning)'),
  '.cm-lintRange-info': underlined('var(--pending)'),
  '.cm-tooltip': {backgroundColor: 'var(--surface)', color: 'var(--text)', border: '1px solid var(--line)', borderRadius: 'var(--radius)', maxWidth: '32rem'},
  '.cm-tooltip.cm-completionInfo': {padding: '.4rem .6rem'},
  '.cm-tooltip-autocomplete > ul > li[aria-selected]': {backgroundColor: 'var(--accent)', color: 'var(--on-accent)'},
  '.cm-completionDetail': {color: 'inherit', opacity: '.75'},
  '.cm-diagnostic': {borderLeftWidth: '3px'},
});

const colours = HighlightStyle.define([
  {tag: [tags.definition(tags.propertyName), tags.propertyName], color: 'var(--accent)'},
  {tag: [tags.comment, tags.meta], color: 'var(--muted)'},
  {tag: [tags.number, tags.bool, tags.null, tags.keyword], color: 'var(--pending)'},
  {tag: [tags.string], color: 'var(--good)'},
]);

function source(options: EditorOptions) {
  return async (context: CompletionContext): Promise<CompletionResult | null> => {
    const tables = options.tables();
    if (!tables) return null;
    const text = context.state.doc.toString();
    const place = placeAt(text, context.pos);
    if (!place || (place.typed === '' && !context.explicit && place.key === null)) return null;
    const fields = fieldsAt(tables, place.path);
    if (place.key === null) {
      const pad = ' '.repeat(place.column + 2);
      const offered = fields.filter((field) => !place.siblings.includes(field.name)).map((field) => ({
        label: field.name,
        type: 'property',
        detail: field.type.length > 48 ? `${field.type.slice(0, 47)}…` : field.type,
        info: [field.text, field.remarks].filter((line) => line !== '').join(' · '),
        boost: field.required ? 1 : 0,
        apply: field.list ? `${field.name}:\n${' '.repeat(place.column)}- ` : field.object !== null ? `${field.name}:\n${pad}` : `${field.name}: `,
      }));
      return offered.length === 0 ? null : {from: place.from, options: offered, validFor: /^[\w./-]*$/};
    }
    const field = fields.find((one) => one.name === place.key);
    let values = field?.values ?? [];
    const plural = place.key === 'name' ? namedAt(place.path) : '';
    if (plural !== '') values = await options.names(plural);
    if (context.aborted || values.length === 0) return null;
    return {from: place.from, options: values.map((value) => ({label: value, type: 'enum'})), validFor: /^[^\s"'{}[\],]*$/};
  };
}

/// Typing over a selection. A browser that does it itself keeps the look of what was there by attributes of style, which
/// the server's policy refuses and reports.
const overSelection = EditorView.domEventHandlers({
  beforeinput(event, view) {
    const text = event.data ?? event.dataTransfer?.getData('text/plain');
    const typed = (event.inputType === 'insertText' || event.inputType === 'insertReplacementText') && text !== undefined;
    const erased = event.inputType.startsWith('deleteContent');
    if (view.state.selection.main.empty || view.composing || !(typed || erased)) return false;
    event.preventDefault();
    view.dispatch(view.state.replaceSelection(typed ? text : ''), {userEvent: typed ? 'input.type' : 'delete.selection', scrollIntoView: true});
    return true;
  },
});

export function openEditor(host: HTMLElement, options: EditorOptions): Editor {
  const root = host.shadowRoot ?? host.attachShadow({mode: 'open'});
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: options.text,
      extensions: [
        lineNumbers(), highlightActiveLineGutter(), highlightSpecialChars(), history(), drawSelection(), indentUnit.of('  '),
        EditorState.tabSize.of(2), indentOnInput(), bracketMatching(), closeBrackets(), highlightActiveLine(), yaml(),
        syntaxHighlighting(colours), theme, overSelection,
        autocompletion({override: [source(options)], icons: false}),
        keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...historyKeymap, ...completionKeymap, ...lintKeymap]),
        EditorView.contentAttributes.of({'aria-label': options.label, spellcheck: 'false', autocapitalize: 'off'}),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) options.onChange(update.state.doc.toString());
        }),
      ],
    }),
  });
  // Keys that the page listens for are typed here.
  const keep = (event: Event) => event.stopPropagation();
  host.addEventListener('keydown', keep);
  return {
    setText(text) {
      if (text !== view.state.doc.toString()) view.dispatch({changes: {from: 0, to: view.state.doc.length, insert: text}});
    },
    setMarks(marks) {
      const end = view.state.doc.length;
      const list: Mark[] = marks.map((mark) => ({
        from: Math.min(mark.from, end),
        to: Math.min(Math.max(mark.to, mark.from), end),
        severity: mark.severity === 'note' ? 'info' : mark.severity,
        message: mark.message,
      }));
      view.dispatch(setDiagnostics(view.state, list));
    },
    goTo(position) {
      const at = Math.min(position, view.state.doc.length);
      view.dispatch({selection: {anchor: at}, effects: EditorView.scrollIntoView(at, {y: 'center'})});
      view.focus();
    },
    destroy() {
      host.removeEventListener('keydown', keep);
      view.destroy();
    },
  };
}

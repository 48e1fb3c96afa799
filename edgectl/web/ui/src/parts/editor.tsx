/// The editor's place on a page: the late part of it, or a plain field where that cannot be loaded.
import {useEffect, useRef, useState} from 'preact/hooks';
import {call, type Objects} from '../api';
import type {FieldTables} from '../edit-api';
import type {Editor, EditorMark} from '../editor/editor';
import {texts} from '../texts';
import {Loading} from './basics';

async function namesOf(plural: string): Promise<string[]> {
  try {
    return (await call<Objects>(`/api/objects/${plural}`)).rows.map((row) => row.name);
  } catch {
    return [];
  }
}

export function YamlEditor({label, text, round, tables, marks, target, onChange}: {
  label: string;
  text: string;
  /// Another one: the editor takes `text` anew. Else it only tells what is typed, which may be ahead of `text`.
  round: number;
  tables: FieldTables | undefined;
  marks: EditorMark[];
  /// Where to put the cursor; another object: again.
  target: {position: number} | undefined;
  onChange: (text: string) => void;
}) {
  const host = useRef<HTMLDivElement>(null);
  const plain = useRef<HTMLTextAreaElement>(null);
  const [editor, setEditor] = useState<Editor | 'plain'>();
  const now = useRef({text, tables, onChange});
  now.current = {text, tables, onChange};
  useEffect(() => {
    let opened: Editor | undefined;
    let gone = false;
    import('../editor/editor').then(
      ({openEditor}) => {
        if (gone || !host.current) return;
        opened = openEditor(host.current, {
          text: now.current.text, label, tables: () => now.current.tables, names: namesOf,
          onChange: (next) => now.current.onChange(next),
        });
        setEditor(opened);
      },
      () => setEditor('plain'),
    );
    return () => {
      gone = true;
      opened?.destroy();
    };
  }, [label]);
  useEffect(() => {
    if (typeof editor === 'object') editor.setText(now.current.text);
  }, [editor, round]);
  useEffect(() => {
    if (typeof editor === 'object') editor.setMarks(marks);
  }, [editor, marks]);
  useEffect(() => {
    if (!target) return;
    if (typeof editor === 'object') {
      editor.goTo(target.position);
    } else if (plain.current) {
      plain.current.focus();
      plain.current.setSelectionRange(target.position, target.position);
    }
  }, [editor, target]);
  return (
    <>
      <div ref={host} class="editor" hidden={editor === 'plain'} />
      {editor === undefined && <Loading />}
      {editor === 'plain' && (
        <>
          <p class="muted">{texts.edit.plain}</p>
          <textarea ref={plain} class="plain-editor" aria-label={label} rows={24} spellcheck={false} value={text}
                    onInput={(event) => onChange(event.currentTarget.value)} />
        </>
      )}
    </>
  );
}

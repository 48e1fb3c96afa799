/// Small parts that every page has.
import type {ComponentChildren} from 'preact';
import {useEffect, useMemo, useRef, useState} from 'preact/hooks';
import type {ApiError, Health} from '../api';
import {absolute, relative} from '../format';
import {useNow} from '../live';
import {texts} from '../texts';

/// Its form tells it as well as its colour.
export function HealthMark({health, label}: {health: Health; label?: string}) {
  const text = label ?? texts.health[health];
  return (
    <span class={`health ${health}`}>
      <svg viewBox="0 0 12 12" aria-hidden="true" focusable="false">
        {health === 'good' && <circle cx="6" cy="6" r="4" />}
        {health === 'pending' && <circle cx="6" cy="6" r="3.5" class="hollow" />}
        {health === 'warning' && <path d="M6 1.5 11 10.5H1z" />}
        {health === 'bad' && <path d="M2 2h8v8H2z" />}
        {health === 'unknown' && <path d="M2 6h8" class="hollow" />}
      </svg>
      <span>{text}</span>
    </span>
  );
}

export function Time({at}: {at: string}) {
  const now = useNow();
  const title = useMemo(() => absolute(at), [at]);
  if (at === '') return <span class="muted">{texts.time.never}</span>;
  return (
    <time dateTime={at} title={title}>
      {relative(at, now)}
    </time>
  );
}

/// Takes the focus when the page is another, so that keyboards and screen readers begin there.
export function Heading({title, children}: {title: string; children?: ComponentChildren}) {
  const ref = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · ${texts.product}`;
    if (document.body.dataset.moved === 'yes') ref.current?.focus({preventScroll: true});
    document.body.dataset.moved = 'yes';
    window.scrollTo(0, 0);
  }, [title]);
  return (
    <header class="heading">
      <h1 ref={ref} tabIndex={-1}>
        {title}
      </h1>
      {children}
    </header>
  );
}

export function Section({title, aside, children, wide}: {title: string; aside?: ComponentChildren; children: ComponentChildren; wide?: boolean}) {
  return (
    <section class={wide ? 'card wide' : 'card'} aria-label={title}>
      <div class="card-head">
        <h2>{title}</h2>
        {aside}
      </div>
      {children}
    </section>
  );
}

export function Empty({text, hint, children}: {text: string; hint?: string; children?: ComponentChildren}) {
  return (
    <div class="empty">
      <p>{text}</p>
      {hint && <p class="muted">{hint}</p>}
      {children}
    </div>
  );
}

export function Fault({text, retry}: {text: string; retry?: () => void}) {
  return (
    <div class="fault" role="alert">
      <p>{text}</p>
      {retry && (
        <button type="button" onClick={retry}>
          {texts.retry}
        </button>
      )}
    </div>
  );
}

/// Nothing for a moment: most replies are there before anybody reads "Loading".
export function Loading() {
  const [shown, show] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => show(true), 300);
    return () => clearTimeout(timer);
  }, []);
  return <p class="muted loading" role="status">{shown ? texts.loading : ''}</p>;
}

export function Waiting<T>({loaded, children}: {
  loaded: {data: T | undefined; error: ApiError | undefined; reload: () => void};
  children: (data: T) => ComponentChildren;
}) {
  return (
    <>
      {loaded.error && <Fault text={loaded.error.message} retry={loaded.reload} />}
      {loaded.data !== undefined ? children(loaded.data) : !loaded.error && <Loading />}
    </>
  );
}

export function Copy({text}: {text: string}) {
  const [done, set] = useState(false);
  useEffect(() => {
    if (!done) return;
    const timer = setTimeout(() => set(false), 2000);
    return () => clearTimeout(timer);
  }, [done]);
  return (
    <button type="button" class="quiet" onClick={() => navigator.clipboard.writeText(text).then(() => set(true), () => set(false))}>
      <span aria-live="polite">{done ? texts.copied : texts.copy}</span>
    </button>
  );
}

/// One of several, as radio buttons in a row.
export function Choice<T extends string>({label, value, options, onChange}: {
  label: string;
  value: T;
  options: [T, string][];
  onChange: (value: T) => void;
}) {
  return (
    <div class="choice" role="radiogroup" aria-label={label}>
      {options.map(([key, text]) => (
        <label key={key} class={key === value ? 'chosen' : ''}>
          <input type="radio" name={label} checked={key === value} onChange={() => onChange(key)} />
          <span>{text}</span>
        </label>
      ))}
    </div>
  );
}

export function Ask({title, text, confirm, onConfirm, onCancel}: {
  title: string;
  text: string;
  confirm: string;
  onConfirm: () => void;
  onCancel: () => void;
}) {
  const ref = useRef<HTMLDialogElement>(null);
  useEffect(() => ref.current?.showModal(), []);
  return (
    <dialog ref={ref} aria-labelledby="ask-title" onCancel={onCancel} onClose={onCancel}>
      <h2 id="ask-title">{title}</h2>
      <p>{text}</p>
      <div class="buttons">
        <button type="button" onClick={onCancel}>{texts.cancel}</button>
        <button type="button" class="primary" onClick={onConfirm}>{confirm}</button>
      </div>
    </dialog>
  );
}

/// Lines over time, as SVG. What they show is told in words too.

function path(values: (number | null)[], most: number, width: number, height: number): {line: string; area: string} {
  const step = values.length > 1 ? width / (values.length - 1) : 0;
  let line = '';
  let area = '';
  let begun = -1;
  values.forEach((value, index) => {
    if (value === null) {
      if (begun >= 0) area += `L${((index - 1) * step).toFixed(1)} ${height}Z`;
      begun = -1;
      return;
    }
    const x = (index * step).toFixed(1);
    const y = (height - 1 - (most > 0 ? value / most : 0) * (height - 3)).toFixed(1);
    line += `${begun < 0 ? 'M' : 'L'}${x} ${y}`;
    area += begun < 0 ? `M${x} ${height}L${x} ${y}` : `L${x} ${y}`;
    if (begun < 0) begun = index;
  });
  if (begun >= 0) area += `L${width} ${height}Z`;
  return {line, area};
}

export function Spark({values, label, wide, bad}: {values: (number | null)[]; label: string; wide?: boolean; bad?: boolean}) {
  const width = wide ? 240 : 80;
  const height = wide ? 40 : 18;
  const most = Math.max(0, ...values.map((value) => value ?? 0));
  const {line, area} = path(values, most, width, height);
  return (
    <svg class={`spark${wide ? ' wide' : ''}${bad ? ' bad' : ''}`} viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" role="img" aria-label={label}>
      <title>{label}</title>
      <path class="area" d={area} />
      <path class="line" d={line} />
    </svg>
  );
}

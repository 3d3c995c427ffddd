import { getToolName, isToolUIPart } from 'ai';

export function Message({ message, ...more }) {
  return (
    <li className={message.role}>
      {message.parts.map((part, i) => <Part key={i} part={part} {...more} />)}
    </li>
  );
}

function Part({ part, ...more }) {
  if (part.type === 'text') return <p>{part.text}</p>;
  if (part.type === 'reasoning') return <p className="reasoning">{part.text}</p>;
  if (part.type === 'file') return <p className="hint">{part.filename ?? part.mediaType}</p>;
  if (!isToolUIPart(part)) return null;
  if (part.state === 'approval-requested') return <Ask part={part} {...more} />;
  return (
    <div className="tool">
      {part.title ?? getToolName(part)}: {outcome(part)}
    </div>
  );
}

/** A tool that waits for a person shows exactly what it would do. */
function Ask({ part, running, decide }) {
  return (
    <div className="ask" role="group" aria-label="approval">
      <p>May <strong>{part.title ?? getToolName(part)}</strong> be used with this?</p>
      <pre>{JSON.stringify(part.input, null, 2)}</pre>
      <button disabled={running} onClick={() => decide(part.approval.id, true)}>Allow</button>
      <button disabled={running} onClick={() => decide(part.approval.id, false)}>Deny</button>
    </div>
  );
}

function outcome(part) {
  switch (part.state) {
    case 'approval-responded': return part.approval.approved ? 'allowed …' : 'denied …';
    case 'output-available': return 'done';
    case 'output-denied': return 'denied';
    case 'output-error': return part.errorText;
    default: return '…';
  }
}

// Chunks of the UI message stream become parts of a message.

export const fresh = (id) => ({ id, role: 'assistant', parts: [], metadata: {} });

function tool(m, id, make) {
  let part = m.parts.findLast((p) => p.toolCallId === id);
  if (!part && make) {
    part = { type: 'tool', toolCallId: id, ...make };
    m.parts.push(part);
  }
  return part ?? {};
}

const open = (m, type, id) => m.parts.findLast((p) => p.type === type && p.key === id && p.state === 'streaming');

// apply changes the message and returns the part that changed, or null.
export function apply(m, c) {
  switch (c.type) {
    case 'start':
    case 'message-metadata':
    case 'finish':
      Object.assign(m.metadata, c.messageMetadata ?? {});
      return null;
    case 'start-step':
      return push(m, { type: 'step-start' });
    case 'text-start':
    case 'reasoning-start':
      return push(m, { type: c.type.slice(0, -6), key: c.id, text: '', state: 'streaming' });
    case 'text-delta':
    case 'reasoning-delta': {
      const part = open(m, c.type.slice(0, -6), c.id);
      if (part) part.text += c.delta;
      return part ?? null;
    }
    case 'text-end':
    case 'reasoning-end': {
      const part = open(m, c.type.slice(0, -4), c.id);
      if (part) part.state = 'done';
      return part ?? null;
    }
    case 'tool-input-start':
      return tool(m, c.toolCallId, { toolName: c.toolName, title: c.title, state: 'input-streaming' });
    case 'tool-input-available':
      return Object.assign(tool(m, c.toolCallId, { toolName: c.toolName }), { title: c.title, input: c.input, state: 'input-available' });
    case 'tool-input-error':
      return Object.assign(tool(m, c.toolCallId, { toolName: c.toolName }), { input: c.input, errorText: c.errorText, state: 'output-error' });
    case 'tool-approval-request':
      return Object.assign(tool(m, c.toolCallId), { approval: { id: c.approvalId }, state: 'approval-requested' });
    case 'tool-output-available':
      return Object.assign(tool(m, c.toolCallId), { output: c.output, state: 'output-available' });
    case 'tool-output-error':
      return Object.assign(tool(m, c.toolCallId), { errorText: c.errorText, state: 'output-error' });
    case 'tool-output-denied':
      return Object.assign(tool(m, c.toolCallId), { state: 'output-denied' });
    case 'source-url':
    case 'source-document':
    case 'file':
      return push(m, { ...c });
    case 'error':
      return push(m, { type: 'error', text: c.errorText });
    default:
      return null;
  }
}

function push(m, part) {
  m.parts.push(part);
  return part;
}

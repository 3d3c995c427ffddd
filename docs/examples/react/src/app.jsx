import { useState } from 'react';
import { Chat, useChat } from '@ai-sdk/react';
import { DefaultChatTransport, lastAssistantMessageIsCompleteWithApprovalResponses } from 'ai';
import { historyOf, stopRun } from './host.js';
import { Message } from './message.jsx';

export function App({ id, messages: stored }) {
  // With a chat of its own useChat knows that this transport replays what it resumes.
  const [own] = useState(() => new Chat({
    id,
    messages: stored,
    transport: new DefaultChatTransport({ api: '/api/chat' }),
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  }));
  const chat = useChat({ chat: own, resume: true }); // whatever is under way goes on in this page
  const { messages, status, error } = chat;
  const running = status === 'submitted' || status === 'streaming';

  // After a lost connection the answer may be under way or complete by now.
  const goOn = async () => {
    chat.setMessages(await historyOf(id));
    chat.clearError();
    await chat.resumeStream();
  };

  // A request may be decided long after it was asked. Behind other messages the rule
  // above does not see it, so it is sent by hand; the outcome is a message of its own.
  const decide = async (message, request, approved) => {
    await chat.addToolApprovalResponse({ id: request, approved });
    if (message.id === messages.at(-1).id) return;
    await chat.sendMessage();
    await chat.resumeStream();
    chat.setMessages(await historyOf(id));
  };

  return (
    <main>
      {messages.length === 0 && <p className="hint">Try “hello”, “show streaming”, “use a tool”, “ask first” or “slow answer”.</p>}
      <ol aria-live="polite">
        {messages.map(message => (
          <Message key={message.id} message={message} running={running} decide={(request, approved) => decide(message, request, approved)} />
        ))}
      </ol>
      {error && (
        <p className="error" role="alert">
          {error.message} <button onClick={goOn}>Go on</button>
        </p>
      )}
      <p>
        {/* chat.stop() would only close this page's connection, which never stops a run. */}
        {running && <button onClick={() => stopRun(id)}>Stop</button>}
        {!running && messages.at(-1)?.role === 'assistant' && <button onClick={() => chat.regenerate()}>Again</button>}
        <span className="hint" id="status">{status}</span>
      </p>
      <Composer send={text => chat.sendMessage({ text })} />
    </main>
  );
}

/** What is said during a run waits at the host and is taken in at the next step. */
function Composer({ send }) {
  const [text, setText] = useState('');
  const submit = event => {
    event.preventDefault();
    if (!text.trim()) return;
    send(text);
    setText('');
  };
  return (
    <form onSubmit={submit}>
      <input value={text} onChange={event => setText(event.target.value)} aria-label="Message" placeholder="Message" autoFocus />
      <button>Send</button>
    </form>
  );
}

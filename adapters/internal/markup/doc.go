// Package markup turns the Markdown that models write into the formats of chat platforms: Telegram
// HTML, Feishu rich text, plain text, text for terminals.
//
// A text is parsed once. For chats the tree is flattened to blocks of styled text, and
// [Renderer.Split] packs these into parts within a length counted in UTF-16 units, as Telegram
// counts. Parts end at block borders where possible; a code block that must be cut is closed and
// opened again with its language, a styled text likewise, and neither a surrogate pair nor a
// character with its combining marks is broken.
//
// What a platform cannot show is simplified but never dropped: tables become aligned preformatted
// text, raw HTML is shown literally, addresses that cannot be links are shown in parentheses.
// Everything is escaped. The same text always gives the same parts. A text without markup skips the
// parser.
package markup

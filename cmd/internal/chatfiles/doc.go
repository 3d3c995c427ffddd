// Package chatfiles keeps the files of chats: what people send, what the agent makes for
// them, and tool results that are too long for the history. Each chat has a folder of its
// own below the folder of files, and a chat reads only files of its own folder. The host
// names every file; of the name that a sender chose, only a short plain extension is kept.
package chatfiles

// Package chatfiles stores the files of chats: what people send, what the agent makes for them, and tool results that
// are too long for the history. Each chat has its own folder below the folder of files, and reads only files from
// there. The host chooses every file name; of the sender's file name it keeps only a short plain extension.
package chatfiles

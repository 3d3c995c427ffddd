// Package landlock contains programs without any help from outside: the host's
// own binary puts up fresh namespaces, shows in them what the program may see,
// and lays Landlock's rules over it. It works without any powers where the
// kernel lets users have namespaces, and is unavailable elsewhere: Landlock
// alone leaves UDP, sockets in the file system and other processes open.
package landlock

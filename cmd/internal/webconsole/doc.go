// Package webconsole serves the operator's console: its page at /console/, and at /console/api/ the routes of package
// control, with the roles that may use each.
//
// It promises that a role gets nothing but what the table of routes grants it: an owner everything; anyone on the
// machine of an open demonstration everything but orders; a viewer states, counts and costs, but no names of chats and
// no texts of people. What a viewer gets is copied from the documents member by member, so a member that is added to a
// document stays hidden. Orders are JSON, so that no foreign form can give one. The guard of the web platform has
// checked who asks and from which origin. It is safe for concurrent use.
package webconsole

package uimessage

// AnsweredMember is the member of a turn's metadata with the message that the turn
// answers, as a [Quoted].
const AnsweredMember = "answers"

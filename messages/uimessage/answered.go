package uimessage

// AnsweredMember is the member of a turn's metadata that holds the message which the
// turn answers, as a [Quoted].
const AnsweredMember = "answers"

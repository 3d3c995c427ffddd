// Command codecgen writes the JSON codecs of a package's types into its codec_gen.go. It is
// run by go generate in the package's folder.
//
// The types themselves are the table. A type takes part when its comment has a directive:
//
//	//codec:type text-start   a variant of the package's interface, with its `type`
//	//codec:type              a variant whose Type method and choice are written by hand
//	//codec:object            an object of another kind
//	... tolerant              a member that cannot be read is kept in Extra
//	... open                  members that have no field are dropped
//
// A variant that is defined by an earlier one, as in `type TextEnd TextStart`, has its members.
//
// Fields are written in their order in the struct. A field has the tag
// `codec:"name,options"`; a field Extra of type []Member takes the members that have no
// other field, and a type without it accepts none. How a field is read and written follows
// from its type; the options are:
//
//	required      a fault if the member is missing
//	omitempty     not written when it is zero
//	nullable      null is kept in Extra and not read; implied by Optional
//	word          read by the package's function word, which knows frequent values
//	func          read and written by the methods read<Field> and write<Field>
//	absent=Other  the field Other says that the member was missing
package main

import (
	"log"
	"os"
)

func main() {
	src, err := generate(".")
	if err == nil {
		err = os.WriteFile(output, src, 0o644)
	}
	if err != nil {
		log.Fatal(err)
	}
}

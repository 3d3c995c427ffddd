// Package catalog knows services of language models and their models: addresses, key variables, protocols, limits,
// abilities and prices.
//
// Everything is in catalog.json, one entry a line, which is embedded compressed: after a change run
// "go test ./config/catalog -update". Every entry says where its values are from (source) and to which day
// they are known to hold (asOf). A value that could not be verified is left out; a reader must not take a missing value
// for a no.
//
// # Names
//
// The name of a model's entry is exact, or a prefix that ends in *. [Find] lowers the case of the name it looks for, and
// also tries it without the vendor before the last slash, without a tag after : or @, without a date or "latest" at its
// end, and with dashes for dots, as services spell one model differently. An exact name beats a prefix, the longer
// prefix beats the shorter, and an entry of the service that is asked beats others. An entry without a provider holds
// anywhere. An entry whose name has a vendor is the spelling of one service, and holds there only.
//
// # What holds elsewhere
//
// A model has the same abilities and window at every service, but its protocol, its prices and its cache are those of
// one service: [Find] leaves them out for any other. A server on this machine decides about the window and the longest
// answer itself, so these are left out, too.
//
// # Promises
//
// The package reads nothing but the program itself. Its functions are safe for concurrent use; what they return is
// shared and must not be changed. Settings win over the catalog, which is up to the caller.
package catalog

// Package config reads the settings of a project: ship.json, the project's .env,
// the environment and flags.
//
// # Which value counts
//
// For every key, the first of these that has a value counts:
//
//  1. a flag;
//  2. the environment variable named after the key: SMA_ and the words of the
//     key in capitals, joined by _ (llm.apiKey is SMA_LLM_API_KEY, limits.residentMB
//     is SMA_LIMITS_RESIDENT_MB); an empty variable counts as unset;
//  3. ship.json;
//  4. OPENAI_API_KEY, OPENAI_BASE_URL and TELEGRAM_BOT_TOKEN for their keys;
//  5. what follows from other keys, such as the base URL of a provider;
//  6. what the catalog knows of a model that the settings name;
//  7. the default of [Default].
//
// Variables are looked up in the environment first, then in the project's .env; an empty variable in the environment
// hides the one in .env. Flags and variables contain plain text: a list is comma-separated or JSON, an object is
// JSON. [Loaded.Origin] says where a value came from.
//
// # Strings of ship.json
//
// ${NAME} is the variable, ${NAME:-text} has a fallback, ${file:path} is the file without its trailing line breaks
// (relative to the project), $${ is a literal ${. They do not nest, and their results are not expanded again. A
// variable that is missing or empty is a fault that names it, unless its adapter is disabled.
//
// # Promises
//
// Load reports all findings at once, with line and column. A finding never contains a value from a string of the
// files or from a variable, and a [Secret] cannot be printed. Load has no side effects and keeps no state: call it
// again to reload, and keep the current settings if it fails. Everything here is safe for concurrent use as long as
// no caller changes the [Settings].
//
// The package does not watch files, write ship.json, or contact services to check that a key or token works.
package config

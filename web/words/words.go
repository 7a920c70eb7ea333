// Package words holds every sentence that a page shows. Other packages speak
// in codes and typed values; this one turns them into a language. A second
// language is a second catalogue beside en.go.
package words

import "strings"

// T is the sentence of a key with its {placeholders} filled from name, value
// pairs. An unknown key gives the key in brackets, which a test turns into a
// failure and a reader into a bug report. Safe for concurrent use.
func T(key string, args ...string) string {
	s, ok := english[key]
	if !ok {
		return "[" + key + "]"
	}
	if len(args) < 2 {
		return s
	}
	// One pass: a value that looks like a placeholder stays as it is.
	pairs := make([]string, 0, len(args))
	for i := 0; i+1 < len(args); i += 2 {
		pairs = append(pairs, "{"+args[i]+"}", args[i+1])
	}
	return strings.NewReplacer(pairs...).Replace(s)
}

// Has tells whether the catalogue knows a key.
func Has(key string) bool {
	_, ok := english[key]
	return ok
}

// Plural is key.one for a count of 1 and key.many otherwise.
func Plural(key string, n int64, args ...string) string {
	if n == 1 {
		return T(key+".one", args...)
	}
	return T(key+".many", args...)
}

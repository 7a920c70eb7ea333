package query

import (
	"regexp"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/status"
)

// pattern is a regular expression condition: strings and symbols that contain a match, and the
// same regular expression itself. Matching is RE2: look-around and back references are refused.
type pattern struct {
	source, flags string
	re            *regexp.Regexp
}

func newPattern(source, flags string) (*pattern, error) {
	if strings.IndexByte(source, 0) >= 0 || strings.IndexByte(flags, 0) >= 0 {
		return nil, status.Errorf(51091, "Regular expression cannot contain an embedded null byte")
	}
	mode := ""
	for _, f := range flags {
		switch f {
		case 'i', 'm', 's':
			mode += string(f)
		case 'u':
		default:
			return nil, status.Errorf(51108, "invalid flag in regex options: %c", f)
		}
	}
	if mode != "" {
		mode = "(?" + mode + ")"
	}
	re, err := regexp.Compile(mode + source)
	if err != nil {
		return nil, status.Errorf(51091, "Regular expression is invalid: %s", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	return &pattern{source: source, flags: flags, re: re}, nil
}

func (p *pattern) holds(v bson.RawValue) bool {
	switch v.Type {
	case bson.TypeString:
		return p.re.MatchString(v.StringValue())
	case bson.TypeSymbol:
		return p.re.MatchString(v.Symbol())
	case bson.TypeRegex:
		source, flags := v.Regex()
		return source == p.source && flags == p.flags
	}
	return false
}

// prefix is the literal text every match begins with, "" if there is none; complete: any string with
// that prefix matches.
func (p *pattern) prefix() string {
	if !strings.HasPrefix(p.source, "^") || strings.ContainsAny(p.flags, "im") || strings.ContainsRune(p.source, '|') {
		return ""
	}
	// LiteralPrefix of an anchored expression is empty: ask for the rest alone.
	rest, err := regexp.Compile(p.source[1:])
	if err != nil {
		return ""
	}
	literal, _ := rest.LiteralPrefix()
	return literal
}

// regexOf reads the pattern of a regex value.
func regexOf(v bson.RawValue) (*pattern, error) {
	source, flags := v.Regex()
	return newPattern(source, flags)
}

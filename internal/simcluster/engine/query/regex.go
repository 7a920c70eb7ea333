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
	mode, extended := "", false
	for _, f := range flags {
		switch f {
		case 'i', 'm', 's':
			mode += string(f)
		case 'x':
			extended = true
		case 'u':
		default:
			return nil, status.Errorf(51108, "invalid flag in regex options: %c", f)
		}
	}
	text := source
	if extended {
		text = withoutSpace(text)
	}
	if mode != "" {
		text = "(?" + mode + ")" + text
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, status.Errorf(51091, "Regular expression is invalid: %s", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	return &pattern{source: source, flags: flags, re: re}, nil
}

// withoutSpace removes what the x flag lets a pattern contain: white space and comments outside of classes.
func withoutSpace(source string) string {
	var out strings.Builder
	class := false
	for i := 0; i < len(source); i++ {
		c := source[i]
		switch {
		case c == '\\' && i+1 < len(source):
			out.WriteString(source[i : i+2])
			i++
			continue
		case c == '[':
			class = true
		case c == ']':
			class = false
		case class:
		case strings.IndexByte(" \t\n\r\f\v", c) >= 0:
			continue
		case c == '#':
			end := strings.IndexByte(source[i:], '\n')
			if end < 0 {
				return out.String()
			}
			i += end
			continue
		}
		out.WriteByte(c)
	}
	return out.String()
}

func (p *pattern) holds(v bson.RawValue, _ *int) bool {
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
	if !strings.HasPrefix(p.source, "^") || strings.ContainsAny(p.flags, "imx") || strings.ContainsRune(p.source, '|') {
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

package shardkey

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
)

// ParseKey is ParseExtJSON for what people paste, as ShellToJSON reads it.
func ParseKey(s string) (bson.Raw, error) {
	doc, err := ParseExtJSON(s)
	if err == nil || len(s) > MaxExtJSONBytes || !utf8.ValidString(s) || json.Valid([]byte(s)) {
		return doc, err
	}
	text, err := ShellToJSON(s)
	if err != nil {
		return nil, err
	}
	return ParseExtJSON(text)
}

// ShellToJSON rewrites what mongosh prints and Display writes, such as {project_id: ObjectId("…"), at: ISODate('…'),
// n: NumberLong("1"), u: UUID("…"), z: MinKey}, as Extended JSON. Nothing is evaluated. Text must be valid UTF-8; other
// text is a fault.Invalid. There is no kept library for this syntax in Go.
func ShellToJSON(s string) (string, error) {
	r := shellReader{rest: strings.TrimSpace(s)}
	text, ok := r.value(0)
	if !ok || r.next() != "" {
		at := len(strings.TrimSpace(s)) - len(r.rest)
		if r.why == "" {
			r.why = "The key is neither Extended JSON nor written as in mongosh"
		}
		return "", fault.New(fault.Invalid, "%s; it can be read up to character %d.", r.why, at)
	}
	return text, nil
}

// shellReader rewrites mongosh syntax as Extended JSON.
type shellReader struct {
	rest string
	why  string // what is wrong, where more can be said than that
}

const shellSpace = " \t\r\n"

// next is the next token: a punctuation mark, a string with its quotes, or a word; "" at the end.
func (r *shellReader) next() string {
	r.rest = strings.TrimLeft(r.rest, shellSpace)
	if r.rest == "" {
		return ""
	}
	if q := r.rest[0]; q == '"' || q == '\'' {
		for i := 1; i < len(r.rest); i++ {
			switch r.rest[i] {
			case '\\':
				i++
			case q:
				return r.rest[:i+1]
			}
		}
		return r.rest[:1]
	}
	end := strings.IndexFunc(r.rest, func(c rune) bool {
		return c != '_' && c != '$' && c != '.' && c != '+' && c != '-' && !unicode.IsLetter(c) && !unicode.IsDigit(c)
	})
	switch {
	case end < 0:
		return r.rest
	case end == 0:
		_, n := utf8.DecodeRuneInString(r.rest)
		return r.rest[:n]
	}
	return r.rest[:end]
}

// take passes a token if it is the next one.
func (r *shellReader) take(token string) bool {
	if r.next() != token {
		return false
	}
	r.rest = r.rest[len(token):]
	return true
}

func (r *shellReader) value(depth int) (string, bool) {
	if depth > MaxExtJSONDepth {
		return "", false
	}
	switch t := r.next(); {
	case t == "{":
		return r.list("{", "}", func() (string, bool) {
			name, ok := r.name()
			if !ok || !r.take(":") {
				return "", false
			}
			v, ok := r.value(depth + 1)
			return name + ":" + v, ok
		})
	case t == "[":
		return r.list("[", "]", func() (string, bool) { return r.value(depth + 1) })
	case t != "" && (t[0] == '"' || t[0] == '\''):
		return r.text()
	case t == "new":
		r.take(t)
		return r.call(r.next(), depth)
	default:
		return r.call(t, depth)
	}
}

// list reads items between brackets; a comma may follow the last one.
func (r *shellReader) list(open, end string, item func() (string, bool)) (string, bool) {
	var items []string
	for r.take(open); !r.take(end); {
		if len(items) > 0 && !r.take(",") {
			return "", false
		}
		if len(items) > 0 && r.take(end) {
			break
		}
		x, ok := item()
		if !ok {
			return "", false
		}
		items = append(items, x)
	}
	return open + strings.Join(items, ",") + end, true
}

func (r *shellReader) name() (string, bool) {
	t := r.next()
	if t != "" && (t[0] == '"' || t[0] == '\'') {
		return r.text()
	}
	if t == "" || strings.ContainsAny(t[:1], "{}[](),:.+-…") {
		return "", false
	}
	r.take(t)
	return quoted(t), true
}

// text reads a string with the escapes of JavaScript.
func (r *shellReader) text() (string, bool) {
	t := r.next()
	if len(t) < 2 {
		return "", false
	}
	if strings.Contains(t, "…") {
		r.why = "A value is shown shortened (…), so that the key is not complete: copy the whole key"
		return "", false
	}
	r.take(t)
	var b strings.Builder
	b.WriteByte('"')
	for s := t[1 : len(t)-1]; s != ""; {
		c, n := utf8.DecodeRuneInString(s)
		esc := ""
		if c == '\\' && len(s) > 1 {
			esc, n = s[:2], 2
		}
		switch {
		case esc == `\x` && len(s) >= 4:
			code, err := strconv.ParseUint(s[2:4], 16, 8)
			if err != nil {
				return "", false
			}
			b.WriteString(`\u00` + hex.EncodeToString([]byte{byte(code)}))
			n = 4
		case esc != "" && strings.Contains(`"\/bfnrtu`, esc[1:]):
			b.WriteString(esc)
		case esc != "":
			inner := quoted(esc[1:])
			b.WriteString(inner[1 : len(inner)-1])
		default:
			inner := quoted(string(c))
			b.WriteString(inner[1 : len(inner)-1])
		}
		s = s[n:]
	}
	return b.String() + `"`, true
}

func quoted(s string) string {
	out, err := json.Marshal(s)
	if err != nil {
		return `""` // cannot happen
	}
	return string(out)
}

// call reads a word: a number, a name of a value, or a constructor with its arguments.
func (r *shellReader) call(word string, depth int) (string, bool) {
	if word == "" || strings.Contains("{}[](),:", word) {
		return "", false
	}
	before := r.rest
	r.take(word)
	var args []string
	if strings.HasPrefix(strings.TrimLeft(r.rest, shellSpace), "(") {
		list, ok := r.list("(", ")", func() (string, bool) {
			x, ok := r.value(depth + 1)
			args = append(args, x)
			return x, ok
		})
		if !ok || list == "" {
			return "", false
		}
	}
	out := shellValue(word, args)
	if out == "" {
		r.rest = before
	}
	return out, out != ""
}

// shellValue is a word with its arguments, which are Extended JSON, as Extended JSON; "" for what is none.
func shellValue(word string, args []string) string {
	first, plain := "", ""
	if len(args) > 0 {
		first = args[0]
		plain = strings.Trim(first, `"`)
	}
	wrap := func(name string) string {
		if len(args) != 1 {
			return ""
		}
		return `{"` + name + `":` + quoted(plain) + `}`
	}
	switch word {
	case "true", "false", "null":
		return word
	case "undefined":
		return `{"$undefined":true}`
	case "Infinity", "+Infinity":
		return `{"$numberDouble":"Infinity"}`
	case "-Infinity", "NaN":
		return `{"$numberDouble":"` + word + `"}`
	case "MinKey":
		return `{"$minKey":1}`
	case "MaxKey":
		return `{"$maxKey":1}`
	case "ObjectId", "ObjectID":
		return wrap("$oid")
	case "NumberLong", "Long", "Long.fromString":
		return wrap("$numberLong")
	case "NumberInt", "Int32":
		return wrap("$numberInt")
	case "Double":
		return wrap("$numberDouble")
	case "NumberDecimal", "Decimal128":
		return wrap("$numberDecimal")
	case "UUID":
		return wrap("$uuid")
	case "Symbol":
		return wrap("$symbol")
	case "ISODate", "Date":
		if len(args) == 1 && first == plain { // milliseconds
			return `{"$date":` + `{"$numberLong":` + quoted(plain) + `}}`
		}
		for _, layout := range []string{"2006-01-02T15:04:05.999999999", "2006-01-02T15:04", "2006-01-02"} {
			if at, err := time.Parse(layout, plain); err == nil { // without a zone it is of UTC
				plain = at.Format(time.RFC3339Nano)
			}
		}
		return wrap("$date")
	case "Timestamp":
		if len(args) == 2 {
			return `{"$timestamp":{"t":` + first + `,"i":` + args[1] + `}}`
		}
		if len(args) == 1 {
			return `{"$timestamp":` + first + `}`
		}
	case "BinData", "HexData":
		if len(args) == 2 {
			return shellBinary(first, strings.Trim(args[1], `"`), word == "HexData")
		}
	case "Binary.createFromBase64":
		if len(args) == 1 {
			args = append(args, "0")
		}
		if len(args) == 2 {
			return shellBinary(args[1], plain, false)
		}
	case "RegExp":
		if len(args) == 2 {
			return `{"$regularExpression":{"pattern":` + first + `,"options":` + args[1] + `}}`
		}
	default:
		word = strings.TrimPrefix(word, "+")
		if len(args) == 0 && json.Valid([]byte(word)) {
			return word
		}
	}
	return ""
}

func shellBinary(subtype, data string, isHex bool) string {
	n, err := strconv.ParseUint(subtype, 10, 8)
	if err != nil {
		return ""
	}
	if isHex {
		b, err := hex.DecodeString(data)
		if err != nil {
			return ""
		}
		data = base64.StdEncoding.EncodeToString(b)
	}
	return `{"$binary":{"base64":` + quoted(data) + `,"subType":"` + hex.EncodeToString([]byte{byte(n)}) + `"}}`
}

package app

import (
	"fmt"
	"strings"
	"unicode"
)

// shellStatement is one command of a documented example.
type shellStatement struct {
	raw    string
	words  []string
	status string // of the comment "# → 201" after it
}

// parseShell supports only the shell syntax of the examples: words, both kinds of
// quotes, $NAME and comments. get returns a variable's value.
func parseShell(block string, get func(string) (string, bool)) (out []shellStatement, err error) {
	var now shellStatement
	var word strings.Builder
	inWord, begin := false, 0
	endWord := func() {
		if inWord {
			now.words = append(now.words, word.String())
		}
		word.Reset()
		inWord = false
	}
	expand := func(i int) (int, error) { // i is at the $
		end := i + 1
		for end < len(block) && (block[end] == '_' || unicode.IsUpper(rune(block[end])) || end > i+1 && unicode.IsDigit(rune(block[end]))) {
			end++
		}
		value, ok := get(block[i+1 : end])
		if !ok {
			return 0, fmt.Errorf("the variable %q is not set", block[i:end])
		}
		word.WriteString(value)
		return end, nil
	}
	block += "\n"
	for i := 0; i < len(block); {
		switch c := block[i]; c {
		case '\n':
			endWord()
			if len(now.words) > 0 {
				now.raw = strings.TrimSpace(block[begin:i])
				out = append(out, now)
			}
			now, i = shellStatement{}, i+1
			begin = i
		case ' ':
			endWord()
			i++
		case '#':
			if inWord {
				word.WriteByte(c)
				i++
				continue
			}
			line := block[i : i+strings.IndexByte(block[i:], '\n')]
			if status, ok := strings.CutPrefix(line, "# → "); ok && len(out) > 0 {
				out[len(out)-1].status = status
			}
			i += len(line)
		case '\'':
			end := strings.IndexByte(block[i+1:], '\'')
			if end < 0 {
				return nil, fmt.Errorf("a quote is not closed: %s", block[i:])
			}
			word.WriteString(block[i+1 : i+1+end])
			i, inWord = i+end+2, true
		case '"':
			inWord = true
			for i++; block[i] != '"'; {
				if block[i] != '$' {
					word.WriteByte(block[i])
					i++
				} else if i, err = expand(i); err != nil {
					return nil, err
				}
				if i >= len(block)-1 {
					return nil, fmt.Errorf("a quote is not closed: %s", block)
				}
			}
			i++
		case '$':
			if i, err = expand(i); err != nil {
				return nil, err
			}
			inWord = true
		default:
			word.WriteByte(c)
			i, inWord = i+1, true
		}
	}
	return out, nil
}

package actions

import (
	"strconv"
	"time"
)

// say makes a sentence of a code and name, value pairs.
func say(code string, args ...string) Say {
	s := Say{Code: code}
	for i := 0; i+1 < len(args); i += 2 {
		if s.Args == nil {
			s.Args = map[string]string{}
		}
		s.Args[args[i]] = args[i+1]
	}
	return s
}

func count(n int) string { return strconv.Itoa(n) }

func number(n int64) string { return strconv.FormatInt(n, 10) }

func moment(t time.Time) string { return t.UTC().Format(time.RFC3339) }

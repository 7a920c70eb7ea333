package replay

import (
	"bufio"
	"fmt"
	"os"
	"path"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// rules are replay.yaml: what is not compared exactly, and why not.
type rules struct {
	fields []fieldRule
	order  []orderRule
	steps  []stepRule
}

// How a field is compared.
const (
	exact     = "exact"
	typeOnly  = "type only" // only has to be there, with the same type
	same      = "same"      // made up by the server: corresponds one to one
	ignored   = "ignored"   // may differ and may be missing
	invariant = "invariant only"
	absent    = "not reproducible"
)

type fieldRule struct {
	field string // glob over the field's name
	in    string // command or dump; empty means any
	under string // name of a field above; empty means any
	as    string
	uses  *int // how often it applied
}

// orderRule names an array whose order is chance: its items are paired by a key.
type orderRule struct {
	field, in string
	by        []string
	uses      *int
}

// stepRule takes steps of a recording out of the exact comparison.
type stepRule struct {
	file     string
	from, to int
	as, why  string
}

func (r *rules) of(path []string) string {
	name := path[len(path)-1]
	for _, f := range r.fields {
		if f.in != "" && !matches(f.in, path[0]) || !matches(f.field, name) {
			continue
		}
		if f.under == "" || within(path[:len(path)-1], f.under) {
			*f.uses++
			return f.as
		}
	}
	return exact
}

func (r *rules) pairing(path []string) []string {
	for _, o := range r.order {
		if (o.in == "" || matches(o.in, path[0])) && matches(o.field, path[len(path)-1]) {
			*o.uses++
			return o.by
		}
	}
	return nil
}

func (r *rules) step(file string, n int) (stepRule, bool) {
	for _, s := range r.steps {
		if matches(s.file, file) && s.from <= n && n <= s.to {
			return s, true
		}
	}
	return stepRule{}, false
}

func matches(pattern, name string) bool {
	for one := range strings.SplitSeq(pattern, "|") {
		if ok, _ := path.Match(strings.ReplaceAll(one, "/", "\x01"), strings.ReplaceAll(name, "/", "\x01")); ok {
			return true
		}
	}
	return false
}

func within(path []string, name string) bool {
	for _, p := range path {
		if matches(name, p) {
			return true
		}
	}
	return false
}

var readRules = sync.OnceValues(func() (*rules, error) {
	f, err := os.Open("replay.yaml")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return parseRules(bufio.NewScanner(f))
})

func theRules(t testing.TB) *rules {
	t.Helper()
	r, err := readRules()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// parseRules reads the part of YAML that the file uses: named lists of flat maps
// with plain scalars.
func parseRules(lines *bufio.Scanner) (*rules, error) {
	r := &rules{}
	section, entry := "", map[string]string(nil)
	flush := func() error {
		if entry == nil {
			return nil
		}
		e := entry
		entry = nil
		return r.add(section, e)
	}
	for n := 1; lines.Scan(); n++ {
		line := lines.Text()
		text := strings.TrimSpace(line)
		if text == "" || text[0] == '#' {
			continue
		}
		if line[0] != ' ' {
			if err := flush(); err != nil {
				return nil, err
			}
			section = strings.TrimSuffix(text, ":")
			continue
		}
		if after, first := strings.CutPrefix(text, "- "); first {
			if err := flush(); err != nil {
				return nil, err
			}
			entry, text = make(map[string]string), after
		}
		key, value, ok := strings.Cut(text, ": ")
		if !ok || entry == nil {
			return nil, fmt.Errorf("replay.yaml line %d: %q is not understood", n, text)
		}
		entry[key] = strings.Trim(value, `"`)
	}
	return r, flush()
}

func (r *rules) add(section string, e map[string]string) error {
	if e["why"] == "" {
		return fmt.Errorf("replay.yaml: %s %v has no reason", section, e)
	}
	switch section {
	case "fields":
		switch e["as"] {
		case typeOnly, same, ignored:
		default:
			return fmt.Errorf("replay.yaml: field %s is compared as %q", e["field"], e["as"])
		}
		r.fields = append(r.fields, fieldRule{e["field"], e["in"], e["under"], e["as"], new(int)})
	case "order":
		r.order = append(r.order, orderRule{e["field"], e["in"], strings.Split(e["by"], ", "), new(int)})
	case "steps":
		switch e["as"] {
		case typeOnly, invariant, absent:
		default:
			return fmt.Errorf("replay.yaml: step %s of %s is compared as %q", e["n"], e["file"], e["as"])
		}
		for span := range strings.SplitSeq(e["n"], ", ") {
			first, last, isRange := strings.Cut(span, "-")
			if !isRange {
				last = first
			}
			from, err1 := strconv.Atoi(first)
			to, err2 := strconv.Atoi(last)
			if err1 != nil || err2 != nil {
				return fmt.Errorf("replay.yaml: steps %q of %s", span, e["file"])
			}
			r.steps = append(r.steps, stepRule{e["file"], from, to, e["as"], e["why"]})
		}
	default:
		return fmt.Errorf("replay.yaml: unknown section %q", section)
	}
	return nil
}

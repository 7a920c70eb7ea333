package answer

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/auth"
	"shardboard/internal/format"
	"shardboard/internal/sanitize"
	"shardboard/web/words"
)

const (
	MovesListed = 50
	TextShown   = 300 // bytes of a reason or an error
)

func RiskLevel(r actions.Risk) string {
	switch r {
	case actions.Low:
		return "ok"
	case actions.Medium:
		return "note"
	}
	return "bad"
}

func PersonOf(p auth.Principal) string {
	if p.Name != "" {
		return sanitize.Truncate(sanitize.Sentence(p.Name), 80)
	}
	return sanitize.Truncate(sanitize.Sentence(p.ID), 80)
}

// millisText is a duration in milliseconds, in words.
func MillisText(n int64) string {
	d := time.Duration(n) * time.Millisecond
	if d > 0 && d < time.Second {
		return "less than 1 s"
	}
	return format.Span(d)
}

// stepText is a step in one sentence.
func StepText(s actions.Step) string {
	code := string(s.Op)
	if s.Op == actions.OpBalancing {
		code += "." + strconv.FormatBool(s.On)
	}
	if s.Op == actions.OpBalancerWindow && s.Start == "" {
		code += ".always"
	}
	switch {
	case s.Pauses && s.NS != "":
		code = "setBalancing.pause"
	case s.Restores && s.NS != "":
		code = "setBalancing.restore"
	case s.Pauses:
		code += ".pause"
	case s.Restores:
		code += ".restore"
	}
	ns := s.NS
	if ns == "" && len(s.Proof) > 0 {
		ns = s.Proof[0].NS
	}
	return sanitize.Sentence(words.Code("op", code, map[string]string{"ns": string(ns), "at": boundText(s.At), "min": boundText(s.Min),
		"max": boundText(s.Max), "shard": s.Shard, "zone": s.Zone, "start": s.Start, "stop": s.Stop}))
}

// needText is a fact with the values that it is to have.
func NeedText(f actions.Fact) string {
	var fields []string
	for _, name := range SortedFields(f.Want) {
		fields = append(fields, FieldText(name, f.Want[name]))
	}
	return sanitize.Sentence(fmt.Sprintf("%s: %s", FactText(f), strings.Join(fields, ", ")))
}

func SortedFields(m map[string]string) []string {
	out := make([]string, 0, len(m))
	for name := range m {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

func FieldWord(name string) string { return words.Code("field", name, nil) }

// fieldText is a field with its value.
func FieldText(name, value string) string {
	switch {
	case name == "exists" && value == "true":
		return "there"
	case name == "exists" && value == "false":
		return "not there"
	}
	return fmt.Sprintf("%s %s", FieldWord(name), ValueText(value))
}

// valueText is the value of a fact's field: nothing has a word of its own.
func ValueText(v string) string {
	if v == "" {
		return "none"
	}
	return sanitize.Truncate(v, TextShown)
}

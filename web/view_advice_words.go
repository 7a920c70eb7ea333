package web

import (
	"encoding/json"
	"maps"
	"strconv"
	"strings"
	"time"

	"shardboard/internal/format"
	"shardboard/internal/rules"
	"shardboard/internal/sanitize"
	"shardboard/web/words"
)

// adviceText puts what a rule says into words; "" for what says nothing.
func adviceText(kind string, s rules.Message, now time.Time) string {
	if s.Code == "" {
		return ""
	}
	code := s.Code
	if s.Args["n"] == "1" && words.Has("advice."+kind+"."+code+".singular") {
		code += ".singular"
	}
	return sanitize.Sentence(words.Code("advice."+kind, code, adviceArgs(s.Args, now)))
}

// adviceArgs are a sentence's arguments as people read them: package rules
// says by the beginning of a name what a value is.
func adviceArgs(args map[string]string, now time.Time) map[string]string {
	out := maps.Clone(args)
	for name, text := range args {
		switch {
		case strings.HasPrefix(name, "bytes"):
			if n, err := strconv.ParseInt(text, 10, 64); err == nil {
				out[name] = format.Bytes(n)
			}
		case strings.HasPrefix(name, "share"):
			if f, err := strconv.ParseFloat(text, 64); err == nil {
				out[name] = format.Share(f)
			}
		case name == "times":
			if f, err := strconv.ParseFloat(text, 64); err == nil {
				out[name] = strconv.FormatFloat(f, 'f', 1, 64)
			}
		case name == "rate":
			if f, err := strconv.ParseFloat(text, 64); err == nil {
				out[name] = format.Rate(f)
			}
		case name == "n":
			if n, err := strconv.ParseInt(text, 10, 64); err == nil {
				out[name] = format.Count(n)
			}
		case strings.HasPrefix(name, "since"):
			if at, err := time.Parse(time.RFC3339, text); err == nil {
				out[name] = format.Span(now.Sub(at))
			}
		case name == "over":
			if d, err := time.ParseDuration(text); err == nil {
				out[name] = format.Span(d)
			}
		case name == "part":
			out[name] = words.T("part." + text)
		}
	}
	return out
}

// because is the balancer's own rule behind an advice.
func because(i rules.Problem) string {
	if i.Because.Code == "" {
		return ""
	}
	return sanitize.Sentence(words.Code("rule", i.Because.Code, ruleArgs(i.Because.Args)))
}

func ruleName(r rules.Rule) string         { return words.Code("advice.rule", string(r), nil) }
func severityName(r rules.Severity) string { return words.Code("advice.rank", string(r), nil) }

// planArguments are a plan's arguments as its JSON has them: bounds and keys are
// Extended JSON, some are numbers or true, the rest is text.
func planArguments(p rules.Plan) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	for name, text := range p.Args {
		switch name {
		case "at", "min", "max", "bounds", "parts", "on", "force":
			if json.Valid([]byte(text)) {
				out[name] = json.RawMessage(text)
			}
		default:
			out[name], _ = json.Marshal(text) // a string can be marshalled
		}
	}
	return out
}

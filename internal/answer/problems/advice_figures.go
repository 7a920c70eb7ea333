package problems

import (
	"cmp"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/message"
	"shardboard/internal/rules"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
)

// EvidenceOf is one figure behind a problem: what it is, how it was measured and when.
func EvidenceOf(v answer.View, e rules.Evidence) api.AdviceFigure {
	out := api.AdviceFigure{
		Name: api.Say(e.Name, v.Now), Unit: e.Unit, PlusMinus: e.PlusMinus, Exact: e.Exact, AtLeast: e.AtLeast,
		Method: e.Method, At: api.Time(e.At),
	}
	if e.Over > 0 {
		out.Window, out.Covered = e.Over.String(), e.Covered.Seconds()
	}
	if !e.Known {
		out.Reason = cmp.Or(e.Reason, "notLoaded")
		return out
	}
	switch e.Unit {
	case "text":
		out.Text = e.Text.Value
	case "time":
		out.Time = api.Time(e.Time)
	default:
		out.Value = &e.Value
	}
	out.Figure, out.How = evidenceFigure(v, e), evidenceMethod(v, e)
	// Shares are computed and the server's sizes are what there is: neither is marked as an estimate.
	out.Approx = !e.Exact && !e.AtLeast && e.Method != "collStats" && e.Unit != "share"
	return out
}

// longText is how many bytes of a text figure are shown.
const longText = 300

// evidenceFigure is a value with its unit.
func evidenceFigure(v answer.View, e rules.Evidence) message.Message {
	var value message.Fact
	pattern := "{value}"
	switch e.Unit {
	case "bytes":
		value = message.Bytes("value", int64(e.Value))
	case "share":
		value = message.Share("value", e.Value)
	case "perHour":
		value, pattern = message.Rate("value", e.Value), "{value} per hour"
	case "rate":
		value, pattern = message.Rate("value", e.Value), "{value}/s"
		if e.PlusMinus > 0 {
			pattern = "{value} ± {plusMinus}/s"
		}
	case "time":
		value = message.Time("value", e.Time)
	case "text":
		if value = e.Text; value.Value == "" {
			value = message.Words("value", "not sharded")
		} else if text := value.Text(v.Now); len(text) > longText {
			value.Shown = sanitize.Shorten(text, longText)
		}
		value.Name = "value"
	default:
		value = message.Count("value", int64(e.Value))
	}
	switch {
	case e.AtLeast && e.Unit == "time":
		pattern += " or earlier"
	case e.AtLeast:
		pattern = "at least " + pattern
	}
	return message.New("evidence", pattern, value, message.Rate("plusMinus", e.PlusMinus))
}

// evidenceMethod says how a value was measured, over what time, and how long ago.
func evidenceMethod(v answer.View, e rules.Evidence) message.Message {
	pattern := "{method}, {age}"
	switch {
	case e.Over > 0 && e.Covered < e.Over:
		pattern = "{method}, {covered} of the last {window} counted, {age}"
	case e.Over > 0:
		pattern = "{method}, over {window}, {age}"
	case e.At.IsZero():
		pattern = "{method}"
	}
	return message.New("method", pattern,
		message.Coded("method", e.Method, v.Profile.Words(topology.MethodText(e.Method))), message.Duration("covered", e.Covered),
		message.Duration("window", e.Over), message.Words("age", format.Ago(v.Now.Sub(e.At))))
}

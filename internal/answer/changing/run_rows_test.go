package changing_test

import (
	"strings"
	"testing"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/answer/changing"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/topology"
)

func TestRowsOfARunAreToldAsADifferenceBesideTheWriteRate(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	counted := func(n int64, after time.Duration) topology.Figure {
		return topology.Figure{Known: true, Exact: true, Value: n, Method: "count", At: at.Add(after)}
	}
	not := func(reason string) topology.Figure { return topology.Figure{Reason: reason} }
	rate := engine.Rate{PerSecond: 0.25, Known: true}
	for name, c := range map[string]struct {
		before, after topology.Figure
		writes        engine.Rate
		difference    any
		text          []string
	}{
		"grown": {counted(10, 0), counted(13, 12*time.Second), rate, int64(3),
			[]string{"10 rows", "has 13 (+3) after 12.0 s", "0.2 rows a second"}},
		"shrunk":       {counted(10, 0), counted(8, time.Second), engine.Rate{}, int64(-2), []string{"(−2)", "is not known"}},
		"equal":        {counted(10, 0), counted(10, time.Second), engine.Rate{}, int64(0), []string{"10 rows of the project, as before"}},
		"too many":     {not("tooMany"), not("noBefore"), engine.Rate{}, nil, []string{"not counted: more than 100\u202f000 rows"}},
		"grew too big": {counted(10, 0), not("tooMany"), engine.Rate{}, nil, []string{"more than 100\u202f000 rows"}},
		"running":      {counted(10, 0), not("pending"), engine.Rate{}, nil, []string{"10 rows", "counted again at the end"}},
		"not sent":     {counted(10, 0), not("nothingSent"), engine.Rate{}, nil, []string{"10 rows", "Nothing was sent"}},
		"another":      {not("<b>"), not("noBefore"), engine.Rate{}, nil, []string{"<b>"}},
	} {
		t.Run(name, func(t *testing.T) {
			rows := changing.RowsOf(
				[]engine.RowCount{{Rows: actions.Rows{NS: "shop.documents", Project: "p"}, Before: c.before, After: c.after, Writes: c.writes}},
			)
			must.That(t, len(rows) == 1 && rows[0].NS == "shop.documents" && rows[0].Project == "p", "%+v", rows)
			r := rows[0]
			if want, both := c.difference.(int64); both != (r.Difference != nil) || both && (*r.Difference != want || r.Seconds == nil) {
				t.Errorf("difference %v in %v s", r.Difference, r.Seconds)
			}
			expect.Equal(t, c.writes.Known, r.WritesPerSecond != nil, "%v rows a second", r.WritesPerSecond)
			for _, part := range append(c.text, "shop.documents") {
				expect.That(t, strings.Contains(r.Text, part), "%q lacks %q", r.Text, part)
			}
		})
	}
	expect.That(t, changing.RowsOf(nil) != nil, "no rows are null and not an empty list")
}

package trying

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"shardboard/internal/answer/param"
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/format"
	"shardboard/internal/lab/keys"
)

// LabIDsQuery asks where inserts land.
type LabIDsQuery struct{ api.LabIDsInputs }

// MaxLabHours is the longest time of inserts.
const MaxLabHours = 24 * 365

// Parameters are those of an address.
func (q *LabIDsQuery) Parameters() param.List {
	q.LabIDsInputs = api.LabIDsInputs{Inserts: 10_000, Shards: 16, Hours: 24, Seed: 1}
	return param.List{
		param.Number(&q.Inserts, "inserts", 100, keys.MostInserts, "new rows"),
		param.Number(&q.Shards, "shards", 1, 64, "shards"),
		param.Number(&q.Hours, "hours", 1, MaxLabHours, "from the first row to the last"),
		param.Seed(&q.Seed, "of all that is by chance"),
	}
}

// Values are all inputs as parameters.
func (q LabIDsQuery) Values() url.Values {
	return url.Values{"inserts": {strconv.Itoa(q.Inserts)}, "shards": {strconv.Itoa(q.Shards)}, "hours": {strconv.Itoa(q.Hours)},
		"seed": {strconv.FormatUint(q.Seed, 10)}}
}

// idKinds are the kinds of ids as people call them.
var idKinds = map[string]string{"_id": "ObjectID", keys.UUID4: "UUID version 4", keys.UUID7: "UUID version 7",
	keys.LocalityDefault: "locality UUID, default mode", keys.LocalitySequential: "locality UUID, sequential mode"}

// LabIDs works out where the inserts land.
func LabIDs(q LabIDsQuery) (api.LabIDs, error) {
	out := api.LabIDs{Inputs: q.LabIDsInputs, URL: api.Address("/lab/ids?" + q.Values().Encode()), Items: []api.LabID{}}
	all, err := keys.Inserts{Rows: q.Inserts, Shards: q.Shards, Span: time.Duration(q.Hours) * time.Hour, Seed: q.Seed}.Land()
	if err != nil {
		return out, fault.Wrap(fault.Invalid, err, "%s.", err.Error())
	}
	for _, l := range all {
		out.Items = append(out.Items, api.LabID{Kind: idKinds[l.Field], Text: landingText(l, q.Shards), BusiestShare: l.Busiest,
			AtOnceShare: l.AtATime, Parts: l.Parts, Slices: l.Slices})
	}
	return out, nil
}

// landingText says what a kind of id shows.
func landingText(l keys.Landing, shards int) string {
	switch {
	case shards == 1:
		return "There is one shard."
	case l.Busiest >= nearlyAll:
		return "All new rows go to one shard: ids begin with the time."
	case l.AtATime >= nearlyAll:
		return "New rows go to one shard at a time, to another one every ten minutes: rows of the same time lie together, and shards take turns."
	case l.Busiest <= timesEven/float64(shards):
		return "New rows are spread over all shards at any time: rows of the same time lie apart."
	}
	return format.Share(l.Busiest) + " of new rows go to one shard."
}

// LabIDsPicture draws where the inserts of one kind land, as SVG: from left to right the time, from top to bottom the
// shards. The darker a place, the larger the part of the rows of that time.
func LabIDsPicture(id api.LabID) string {
	const cell, high = 8, 8
	var out strings.Builder
	if len(id.Slices) == 0 {
		return ""
	}
	fmt.Fprintf(&out, `<svg class="lab-landing" viewBox="0 0 %d %d" role="img" aria-label="%s">`, cell*len(id.Slices), high*len(id.Parts),
		"Shards by time: "+id.Text)
	for x, slice := range id.Slices {
		all := 0
		for _, n := range slice {
			all += n
		}
		for y, n := range slice {
			if n > 0 {
				fmt.Fprintf(&out, `<rect x="%d" y="%d" width="%d" height="%d" opacity="%.2f"/>`, x*cell, y*high, cell, high,
					0.12+0.88*float64(n)/float64(all))
			}
		}
	}
	out.WriteString("</svg>")
	return out.String()
}

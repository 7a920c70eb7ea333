package lab

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"shardboard/internal/answer/trying"
	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/format"
	"shardboard/web/site"
	"shardboard/web/templates"
)

type keysForm struct {
	form
	collections []string // whose rows may be read by who asks
}

// refreshSeconds is after how long a page that waits for rows asks again.
const refreshSeconds = "3"

// KeysPage compares shard keys. While rows are read it loads itself again, which keeps the reading going.
func KeysPage(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	v := s.ViewFor(r)
	sh := s.Shell(r, v, "lab-keys", "Shard keys compared")
	in := r.URL.Query()
	var f keysForm
	if auth.From(r.Context()).May(auth.Operator) && s.Deps.Measured.Rows != nil {
		f.collections = trying.LabCollections(v)
	}
	q, err := trying.ParseLabKeys(in, v)
	var a api.LabKeys
	if err == nil {
		a, err = keysAnswer(s, r, q)
	}
	if err != nil {
		if k := fault.Of(err); k != fault.Invalid && k != fault.NotFound {
			return err
		}
		sh.CSV = ""
		f.form = formOf(in, ofKeys, s.ProblemText(w, err))
		return site.WritePage(w, r, http.StatusBadRequest, keysPage(sh, f, nil))
	}
	f.form = formOf(q.Values(), ofKeys, "")
	f.typed["keys"] = strings.Join(q.Keys, " ")
	if a.Reading != nil {
		sh.CSV = ""
		w.Header().Set("Refresh", refreshSeconds)
	}
	return site.WritePage(w, r, http.StatusOK, keysPage(sh, f, &a))
}

func (f keysForm) sources() []templates.Option {
	out := []templates.Option{{Value: "", Text: "a model of Yorkie's", Selected: f.typed["ns"] == ""}}
	for _, ns := range f.collections {
		out = append(out, templates.Option{Value: ns, Text: ns, Selected: f.typed["ns"] == ns})
	}
	return out
}

// estimateText is a figure, with its interval unless it was counted.
func estimateText(e api.LabEstimate, write func(float64) string) string {
	if e.Low == e.High {
		return write(e.Value)
	}
	return "≈\u202f" + write(e.Value)
}

// intervalText is the interval of a figure; "" if it was counted.
func intervalText(e api.LabEstimate, write func(float64) string) string {
	if e.Low == e.High {
		return ""
	}
	return write(e.Low) + " to " + write(e.High)
}

func countText(f float64) string { return format.Count(int64(f)) }

func bytesText(n *int64) string {
	if n == nil {
		return format.Unknown
	}
	return format.Bytes(*n)
}

func intText(n *int) string {
	if n == nil {
		return format.Unknown
	}
	return format.Count(int64(*n))
}

func shareText(f *float64) string {
	if f == nil {
		return format.Unknown
	}
	return format.Share(*f)
}

// targetedText says where sampled queries would go.
func targetedText(what string, t api.LabKeyTargeted) string {
	if t.Sampled == 0 {
		return "no " + what + " sampled"
	}
	return format.Count(t.Sampled) + " " + what + ": " + shareText(t.One) + " to one shard, " + shareText(t.Several) + " to several, " +
		shareText(t.All) + " to all"
}

// orderText is the correlation of a key with the order of insertion, in words.
func orderText(f *float64) string {
	switch {
	case f == nil:
		return format.Unknown
	case *f > 0.7:
		return "ascending"
	case *f < -0.7:
		return "descending"
	case *f > 0.2 || *f < -0.2:
		return "partly in order"
	}
	return "spread"
}

// queriesText says how many kinds of queries go where.
func queriesText(k api.LabKey) string {
	var out []string
	for _, x := range []struct {
		n    int
		text string
	}{{k.OneShard, "one shard"}, {k.SomeShards, "some shards"}, {k.AllShards, "all shards"}} {
		if x.n > 0 {
			out = append(out, strconv.Itoa(x.n)+" to "+x.text)
		}
	}
	if len(out) == 0 {
		return format.Unknown
	}
	return strings.Join(out, ", ")
}

func costText(c api.LabKeyCost) string {
	if c.Bytes == 0 {
		return c.How
	}
	return c.How + ": copy " + format.Bytes(c.Bytes) + ", about " + format.Span(time.Duration(c.Seconds)*time.Second)
}

// uniqueText lists unique indexes that can exist, or that cannot.
func uniqueText(k api.LabKey, fits bool) string {
	var out []string
	for _, u := range k.Unique {
		if u.Fits == fits {
			out = append(out, "{"+strings.Join(u.Fields, ", ")+"}")
		}
	}
	if len(out) == 0 {
		return "none"
	}
	return strings.Join(out, ", ")
}

// mostBars is how many bars are drawn; each of more shards' bars stands for several, with the most of them.
const mostBars = 48

// bars draws a part of each shard beside the even part, as SVG of numbers alone.
func bars(parts []api.LabKeyPart, name string, of func(api.LabKeyPart) float64) string {
	each := max((len(parts)+mostBars-1)/mostBars, 1)
	var values []float64
	for group := range slices.Chunk(parts, each) {
		values = append(values, of(slices.MaxFunc(group, func(a, b api.LabKeyPart) int {
			if of(a) < of(b) {
				return -1
			}
			return 1
		})))
	}
	const width, height = 120.0, 28.0
	if len(values) == 0 {
		return ""
	}
	most := slices.Max(values)
	even := 1 / float64(len(parts))
	top := max(most, even)
	var out strings.Builder
	fmt.Fprintf(&out, `<svg class="lab-bars" viewBox="0 0 %g %g" role="img" aria-label="%s: %s on the shard with most, %s would be even">`,
		width, height, name, format.Share(most), format.Share(even))
	step := width / float64(len(values))
	for i, v := range values {
		h := v / top * height
		fmt.Fprintf(&out, `<rect x="%.2f" y="%.2f" width="%.2f" height="%.2f"/>`, float64(i)*step+step*0.1, height-h, step*0.8, h)
	}
	y := height - even/top*height
	fmt.Fprintf(&out, `<path d="M0 %.2fH%g"/></svg>`, y, width)
	return out.String()
}

func leftText(r *api.LabKeysReading) string {
	if r.LeftSeconds == nil {
		return ""
	}
	return "About " + format.Span(time.Duration(*r.LeftSeconds)*time.Second) + " left."
}

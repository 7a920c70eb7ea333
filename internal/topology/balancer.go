package topology

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"shardboard/internal/message"
	"shardboard/internal/sanitize"
)

// Balancer joins config.settings, as the server of its release reads it (balance.ReadSettings), and balancerStatus.
type Balancer struct {
	Known        bool   // settings were read
	Mode         string // full, autoSplitOnly, off
	Stopped      bool
	WindowStart  string // "HH:MM", config server's local time; empty = no window
	WindowStop   string
	InRound      bool
	Rounds       int64
	StatusKnown  bool  // balancerStatus was permitted
	ChunkBytes   int64 // configured or the release's default; 0 = not known
	ChunkDefault bool

	// Days are the windows of activeWindowDOW (8.3). While there are some, WindowStart and WindowStop have no effect.
	Days []DayWindow `json:",omitempty"`
	// Refused are the values that the server refuses: it skips its rounds while there is one, or reads it as off.
	Refused []RefusedSetting `json:",omitempty"`
	Unread  []string         `json:",omitempty"` // documents and fields that this release does not read

	ForceJumbo        bool   `json:",omitempty"` // attemptToBalanceJumboChunks: moves chunks above the limit without a jumbo flag
	WaitForDelete     bool   `json:",omitempty"`
	SecondaryThrottle string `json:",omitempty"` // as written; "" = the default
	AutoMergeOff      bool   `json:",omitempty"` // for the whole cluster (7.0)
	AutoSplitOff      bool   `json:",omitempty"` // for the whole cluster (up to 6.0)

	Unrecorded bool `json:"-"` // of an old table: Days and what follows were not stored yet
}

// DayWindow is one window of activeWindowDOW. One that ends before it begins is open at both ends of its own day.
type DayWindow struct {
	Day         time.Weekday
	Start, Stop string
}

// RefusedSetting is a value of config.settings that the server does not accept.
type RefusedSetting struct {
	Doc, Field string
	Value      string // as Extended JSON, cut; "" if the field is missing
	Why        string // a sentence
}

// Name is the field with its document.
func (r RefusedSetting) Name() string {
	return sanitize.Line(sanitize.Truncate(r.Doc+"."+r.Field, 100))
}

// Enabled tells whether the balancer is switched on (windows and other values aside).
func (b Balancer) Enabled() bool {
	return b.Known && !b.Stopped && b.Mode != "off" && !b.Refuses("stopped") && !b.Refuses("mode")
}

// Moves tells whether the balancer may move chunks (windows aside). In the mode autoSplitOnly it runs and moves
// nothing, and with a value that the server refuses it does not run.
func (b Balancer) Moves() bool {
	return b.Enabled() && b.Mode != "autoSplitOnly" && len(b.Refused) == 0
}

// Broken tells whether the balancer does not run because of a value that the server refuses, and not by choice.
func (b Balancer) Broken() bool { return len(b.Refused) > 0 && !b.Stopped && b.Mode != "off" }

// Refuses tells whether the server refuses the value of a field of the balancer's document.
func (b Balancer) Refuses(field string) bool {
	return slices.ContainsFunc(b.Refused, func(r RefusedSetting) bool { return r.Doc == "balancer" && r.Field == field })
}

// RefusedText says that the balancer does not run because of a value that the server refuses.
func (b Balancer) RefusedText() message.Message {
	first, more := b.Refused[0], len(b.Refused)-1
	pattern := "The balancer does not run: config.settings has a value that the server refuses: {field} is {value}. {rule}"
	if first.Value == "" {
		pattern = "The balancer does not run: config.settings has a document that the server refuses: {field} is missing. {rule}"
	}
	if more > 0 {
		pattern += message.Plural(more, " 1 more value is refused.", " {more} more values are refused.")
	}
	return message.New("balancer.refused", pattern, message.Text("field", first.Name()), message.Text("value", first.Value),
		message.Words("rule", first.Why), message.Count("more", more))
}

// Equal compares two balancers.
func (b Balancer) Equal(o Balancer) bool { return reflect.DeepEqual(b, o) }

// WithoutLater is the balancer as tables had it before Days and what follows were stored.
func (b Balancer) WithoutLater() Balancer {
	return Balancer{Known: b.Known, Mode: b.Mode, Stopped: b.Stopped, WindowStart: b.WindowStart, WindowStop: b.WindowStop,
		InRound: b.InRound, Rounds: b.Rounds, StatusKnown: b.StatusKnown, ChunkBytes: b.ChunkBytes, ChunkDefault: b.ChunkDefault}
}

// Limited tells whether a window limits when the balancer may move chunks.
func (b Balancer) Limited() bool { return len(b.windows()) > 0 }

// When says when the balancer may move chunks, by the local clock of the config server's primary: "from 01:00 to
// 05:00", "on Monday from 1:00 to 2:00"; "" for always.
func (b Balancer) When() string {
	const most = 7
	list := b.windows()
	var out []string
	for _, w := range list[:min(len(list), most)] {
		text := "from " + w.Start + " to " + w.Stop
		if len(b.Days) > 0 {
			text = "on " + w.Day.String() + " " + text
		}
		out = append(out, text)
	}
	if more := len(list) - most; more > 0 {
		out = append(out, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(out, ", ")
}

// OpenAt tells whether the window is open at a time of the config server's clock. Both ends are included.
func (b Balancer) OpenAt(now time.Time) bool {
	list := b.windows()
	m := now.Hour()*60 + now.Minute()
	for _, w := range list {
		from, to := w.minutes()
		switch {
		case len(b.Days) > 0 && w.Day != now.Weekday():
		case from < to && from <= m && m <= to, from > to && (m >= from || m <= to):
			return true
		}
	}
	return len(list) == 0
}

// OpenPerDay is how long a day the window is open, on average over a week.
func (b Balancer) OpenPerDay() time.Duration {
	const minutes, days = 24 * 60, 7
	list := b.windows()
	if len(list) == 0 {
		return 24 * time.Hour
	}
	var open [days][minutes]bool
	for _, w := range list {
		from, to := w.minutes()
		for m := range minutes {
			if from < to && from <= m && m < to || from > to && (m >= from || m < to) {
				for d := range open {
					open[d][m] = open[d][m] || len(b.Days) == 0 || time.Weekday(d) == w.Day
				}
			}
		}
	}
	n := 0
	for _, day := range open {
		for _, is := range day {
			if is {
				n++
			}
		}
	}
	return time.Duration(n) * time.Minute / days
}

// windows are the windows that have an effect; their days mean something only while there are Days.
func (b Balancer) windows() []DayWindow {
	if len(b.Days) > 0 {
		return b.Days
	}
	w := DayWindow{Start: b.WindowStart, Stop: b.WindowStop}
	if from, to := w.minutes(); from == to {
		return nil // none, or one that the server refuses
	}
	return []DayWindow{w}
}

// minutes are the ends since midnight; equal for a window that is none.
func (w DayWindow) minutes() (from, to int) {
	from, ok := ClockMinutes(w.Start)
	to, ok2 := ClockMinutes(w.Stop)
	if !ok || !ok2 {
		return 0, 0
	}
	return from, to
}

// ClockMinutes reads a time of day as the server does (s/balancer_configuration.cpp): two numbers and a colon, with
// anything behind, so that "1:5" is one.
func ClockMinutes(s string) (minutes int, ok bool) {
	var h, m int
	if _, err := fmt.Sscanf(s, "%d:%d", &h, &m); err != nil || h/24 != 0 || m/60 != 0 {
		return 0, false
	}
	return h*60 + m, true
}

// DaysText writes windows by day as ParseDays reads them: "Monday 1:00-2:00, Friday 14:00-18:00".
func DaysText(days []DayWindow) string {
	var out []string
	for _, w := range days {
		out = append(out, w.Day.String()+" "+w.Start+"-"+w.Stop)
	}
	return strings.Join(out, ", ")
}

// ParseDays reads windows by day. Each has different ends.
func ParseDays(text string) (out []DayWindow, ok bool) {
	for part := range strings.SplitSeq(text, ",") {
		name, span, _ := strings.Cut(strings.TrimSpace(part), " ")
		start, stop, _ := strings.Cut(strings.TrimSpace(span), "-")
		day, known := Weekday(name)
		w := DayWindow{Day: day, Start: strings.TrimSpace(start), Stop: strings.TrimSpace(stop)}
		if from, to := w.minutes(); !known || from == to {
			return nil, false
		}
		out = append(out, w)
	}
	return out, true
}

// Weekday is a day by the name that the server uses.
func Weekday(name string) (time.Weekday, bool) {
	for d := time.Sunday; d <= time.Saturday; d++ {
		if d.String() == name {
			return d, true
		}
	}
	return 0, false
}

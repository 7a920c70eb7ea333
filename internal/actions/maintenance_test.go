package actions

import (
	"slices"
	"strings"
	"testing"
	"time"

	"shardboard/internal/actions/operation"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/format"
)

func window(t testing.TB, text string) Maintenance {
	t.Helper()
	m, err := ParseMaintenance(text)
	must.Do(t, err)
	return m
}

func clock(text string) time.Time { return must.Get(time.Parse(time.RFC3339, text)) }

func TestWindowFollowsLocalTime(t *testing.T) {
	for _, c := range []struct{ window, from, to string }{ // open in [from, to), closed the minute before and at to
		{"01:00-05:00", "2026-03-02T01:00:00Z", "2026-03-02T05:00:00Z"},
		{"Mon-Fri 01:00-05:00 Europe/Berlin", "2026-03-02T00:00:00Z", "2026-03-02T04:00:00Z"},
		{"Mon-Fri 01:00-05:00 Europe/Berlin", "2026-07-06T23:00:00Z", "2026-07-07T03:00:00Z"}, // Tuesday there, in summer
		{"Sat,Sun 22:00-06:00", "2026-03-01T22:00:00Z", "2026-03-02T06:00:00Z"},               // Sunday night is Sunday's, on Monday too
		{"Fri-Mon 10:00-11:00 America/New_York", "2026-03-02T15:00:00Z", "2026-03-02T16:00:00Z"},
		{"sat 00:00-24:00 Asia/Tokyo", "2026-03-06T15:00:00Z", "2026-03-07T15:00:00Z"},
		{"Sun 01:00-03:00 Europe/Berlin", "2026-03-29T00:00:00Z", "2026-03-29T01:00:00Z"},          // 02:00 to 03:00 does not exist
		{"Sun 02:30-04:00 Europe/Berlin", "2026-03-29T01:00:00Z", "2026-03-29T02:00:00Z"},          // begins when the clocks jump over its begin
		{"Sun 01:00-03:00 Europe/Berlin", "2026-10-24T23:00:00Z", "2026-10-25T02:00:00Z"},          // 02:00 to 03:00 is there twice
		{"Sat 23:00-02:30 America/New_York", "2026-03-08T04:00:00Z", "2026-03-08T07:00:00Z"},       // over midnight and the jump
		{"Sun 00:00-24:00 Australia/Lord_Howe", "2026-04-04T13:00:00Z", "2026-04-05T13:30:00Z"},    // half an hour back
		{"Mon,Wed-Fri 12:00-12:01 Asia/Kathmandu", "2026-03-04T06:15:00Z", "2026-03-04T06:16:00Z"}, // +05:45
	} {
		w, from, to := window(t, c.window), clock(c.from), clock(c.to)
		for at, want := range map[time.Time]bool{from.Add(-time.Minute): false, from: true, from.Add(59 * time.Second): true,
			to.Add(-time.Second): true, to: false} {
			expect.Equal(t, w.Open(at), want, "%s at %s: open is %v", w, at, !want)
		}
		if got := w.change(from.Add(-time.Minute), true); !got.Equal(from) {
			t.Errorf("%s opens at %s, want %s", w, got, from)
		}
		if got := w.change(from, false); !got.Equal(to) {
			t.Errorf("%s closes at %s, want %s", w, got, to)
		}
	}
}

func TestNextWindowAcrossClockChanges(t *testing.T) {
	for _, c := range []struct{ windows, at, open, when string }{
		{"Mon 01:00-05:00", "2026-03-02T05:00:00Z", "", "2026-03-09T01:00:00Z"},
		{"Sun 02:00-03:00 Europe/Berlin", "2026-03-28T12:00:00Z", "", "2026-04-05T00:00:00Z"}, // left out on the 29th
		{"Mon 01:00-05:00;Tue 00:30-01:00", "2026-03-03T00:10:00Z", "", "2026-03-03T00:30:00Z"},
		{"Mon 01:00-05:00;Mon 02:00-06:00", "2026-03-02T03:00:00Z", "yes", "2026-03-02T06:00:00Z"},
		{"00:00-24:00", "2026-03-02T03:00:00Z", "yes", ""},
		{"01:00-02:00", "2026-03-02T00:59:30Z", "", "2026-03-02T01:00:00Z"},
	} {
		var all []Maintenance
		for text := range strings.SplitSeq(c.windows, ";") {
			all = append(all, window(t, text))
		}
		_, open, at := currentOrNextWindow(all, clock(c.at))
		when := ""
		if !at.IsZero() {
			when = format.Stamp(at)
		}
		expect.That(t, open == (c.open != "") && when == c.when,
			"%s at %s: open %v, %s, want %s", c.windows, c.at, open, when, c.when)
	}
}

func TestInvalidWindowIsRefused(t *testing.T) {
	for _, text := range []string{"", " ", "Mon", "Mon-Fri", "01:00", "1:00-5:00", "01:00-25:00", "01:60-02:00", "24:00-05:00",
		"01:00-01:00", "Mon-Fry 01:00-05:00",
		"Mon- 01:00-05:00", "Monday 01:00-05:00", ",Mon 01:00-05:00", "01:00-05:00 Mars/Olympus", "01:00-05:00 Local",
		"01:00-05:00 ../../etc/passwd", "Mon 01:00-05:00 UTC more",
		"+1:00-05:00", "01:00-05:00-06:00", "Mon 01:00–05:00", strings.Repeat("x", 5000)} {
		_, err := ParseMaintenance(text)
		if err == nil || fault.Of(err) != fault.Invalid || !strings.Contains(fault.Text(err), "Mon-Fri 01:00-05:00 Europe/Berlin") ||
			len(fault.Text(err)) > 500 {
			t.Errorf("%.40q: %v", text, err)
		}
	}
	if got := window(t, "  Mon-Fri\t01:00-05:00   Europe/Berlin ").String(); got != "Mon-Fri 01:00-05:00 Europe/Berlin" {
		t.Error(got)
	}
}

func TestPlanOutsideWindowNeedsConfirmationButIsNotBlocked(t *testing.T) {
	inside := now.UTC().Format("15:04") + "-" + now.UTC().Add(time.Hour).Format("15:04")
	outside := now.UTC().Add(time.Hour).Format("15:04") + "-" + now.UTC().Add(2*time.Hour).Format("15:04")
	for _, c := range []struct {
		name, window string
		kind         Kind
		args         func(Situation) Args
		want         Verdict
	}{
		{"no window", "", MoveChunk, moveDocuments(t), ""},
		{"inside", inside, MoveChunk, moveDocuments(t), Pass},
		{"outside", outside, MoveChunk, moveDocuments(t), Warn},
		{"a zone", outside, ZoneAddShard, fixed(Args{Shard: "a", Zone: "z"}), Warn},
		{"the balancer", outside, BalancerOn, fixed(Args{}), Warn},
		{"the balancer, inside", inside, BalancerOn, fixed(Args{}), Pass},
		{"a cut moves nothing", outside, Split, ofChunk(t, 1, ""), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := cluster(t, "0.6.38", "5.0.7")
			if c.window != "" {
				s.Maintenance = []Maintenance{window(t, c.window)}
			}
			d, _, err := PlanChange(s, c.kind, c.args(s))
			must.Do(t, err)
			var got Verdict
			for _, check := range d.Checks {
				if check.ID == CheckMaintenance {
					got = check.Verdict
					if got == Warn && check.Text.Args()["at"] != format.Stamp(now.Add(time.Hour).Truncate(time.Minute)) {
						t.Errorf("the next window begins at %s", check.Text.Args()["at"])
					}
				}
			}
			expect.That(t, got == c.want, "%q, want %q", got, c.want)
			expect.That(t, !d.Blocked() || c.kind == BalancerOn, "blocked: %+v", d.Checks)
			expect.That(t, (d.Confirm != "") == (c.want == Warn) && (d.Risk == High) == (c.want == Warn),
				"risk %s, confirm %q", d.Risk, d.Confirm)
		})
	}
}

// A new kind is in no list, so windows count for it.
func TestMaintenanceWindowsCountForAllKindsButThese(t *testing.T) {
	anyTime := []Kind{Split, SplitProject, SplitHot, Merge, ClearJumbo}
	outside := window(t, now.UTC().Add(time.Hour).Format("15:04")+"-"+now.UTC().Add(2*time.Hour).Format("15:04"))
	for _, k := range Descriptions() {
		listed := slices.Contains(anyTime, k.Kind)
		expect.Equal(t, k.AnyTime, listed, "%s: AnyTime", k.Kind)
		for _, step := range []operation.Step{{}, {Op: operation.OpMerge}, {Op: "new command"}} {
			d := draftBuilder{description: k, s: Situation{Now: now, Maintenance: []Maintenance{outside}}}
			if step.Op != "" {
				d.steps = []operation.Step{step}
			}
			d.add(d.checkMaintenance())
			if want := !listed || step.Op == "new command"; OutsideMaintenance(d.checks) != want {
				t.Errorf("%s with the step %q: checked %v, want %v", k.Kind, step.Op, !want, want)
			}
		}
	}
}

func moveDocuments(t *testing.T) func(Situation) Args {
	return ofChunk(t, 1, "c")
}

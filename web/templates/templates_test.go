package templates

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

func TestAgoUsesOneUnit(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for d, want := range map[time.Duration]string{
		0: "just now", 999 * time.Millisecond: "just now", time.Second: "1 s ago", 59 * time.Second: "59 s ago", time.Minute: "1 min ago",
		90 * time.Minute: "1 h ago", 47 * time.Hour: "47 h ago", 49 * time.Hour: "2 d ago", 400 * 24 * time.Hour: "400 d ago",
		-30 * time.Second: "just now", -5 * time.Minute: "5 min ahead of our clock",
	} {
		expect.Equal(t, strings.ReplaceAll(Ago(now.Add(-d), now).Text, "\u202f", " "), want, "Ago(%v)", d)
	}
	got := Ago(time.Time{}, now)
	expect.That(t, got.Text == "never" && got.At.IsZero(), "Ago(zero) = %+v", got)
}

func TestSVGLengthsAreShortAndInRange(t *testing.T) {
	for f, want := range map[float64]string{0: "0%", 1: "100%", 0.5: "50%", 1.0 / 3: "33.33%", -4: "0%", 7: "100%"} {
		expect.Equal(t, Percent(f), want, "Percent(%v)", f)
	}
	expect.Equal(t, Percent(math.NaN()), "0%", "Percent(NaN)")
	expect.Equal(t, Units(0.12345, 1000), "123.45", "Units")
}

func TestTopicsEscapeTheirSeparators(t *testing.T) {
	if got := topics([]string{"overview", "collection:a,b@1%2F"}); got != "overview,collection:a%2Cb%401%252F" {
		t.Error(got)
	}
}

func TestFragmentsDoNotChangeMerelyBecauseTimePasses(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	draw := func(ctx context.Context, now time.Time) string {
		var b strings.Builder
		must.Do(t, Time(Ago(at, now)).Render(ctx, &b))
		return b.String()
	}
	early, late := at.Add(5*time.Second), at.Add(time.Hour)
	ctx := AsFragment(t.Context())
	a, b := draw(ctx, early), draw(ctx, late)
	expect.That(t, a == b, "fragment differs:\n%s\n%s", a, b)
	expect.Contains(t, draw(t.Context(), early), "5"+" s ago", "a page says how long ago")
}

func TestCutKeepsTheWholeForTheClipboard(t *testing.T) {
	k := Cut("0123456789", 5)
	expect.That(t, k.Full == "0123456789" && k.Short == "01…89", "Cut = %+v", k)
}

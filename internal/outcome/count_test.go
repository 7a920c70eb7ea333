package outcome

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"shardboard/internal/heat"
)

func TestWindowsAreWholeMinutesOfTheSameLengthOutsideTheRun(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		started := start.Add(time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "start")))
		ended := started.Add(time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "took")))
		b, a := windows(started, ended)
		if b.To.After(started) || started.Sub(b.To) >= windowAlignment || a.From.Before(ended) || a.From.Sub(ended) >= windowAlignment {
			t.Errorf("%v to %v: before %v, after %v", started, ended, b, a)
		}
		if b.Seconds() != Window.Seconds() || a.Seconds() != b.Seconds() {
			t.Errorf("%v and %v", b.Seconds(), a.Seconds())
		}
	})
}

// Every row is assigned to a shard or counted as astray, and the parts of a window
// before and after a restart add up to the whole window.
func TestCountsContainEveryRowAcrossARestart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shards := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c"}), 5, 5).Draw(t, "shards")
		c := collection(t, []int64{0, 10, 20, 30}, shards...)
		w := Span{start.Truncate(windowAlignment), start.Truncate(windowAlignment).Add(Window)}
		var all []sample
		var rows, in int64
		for i := range rapid.IntRange(0, 80).Draw(t, "ticks") {
			from := w.From.Add(time.Duration(i-5) * heat.Tick)
			s := tenSeconds(c, from, rapid.SliceOfN(rapid.Int64Range(0, 50), 5, 5).Draw(t, "rows")...)
			s.slot.Every = rapid.SampledFrom([]int64{1, 10}).Draw(t, "every")
			if rapid.Bool().Draw(t, "astray") {
				s.slot.Astray, s.slot.Counts = 7, append(s.slot.Counts, heat.Count{Rows: 7})
			}
			all = append(all, s)
			if w.contains(s.slot) {
				rows, in = rows+s.slot.Rows(), in+1
			}
		}
		whole := countWindow(all, w, []keySpan{{minKey(), maxKey()}}, time.Time{})
		if in == 0 {
			if whole != nil {
				t.Fatal("an uncounted window has counts")
			}
			return
		}
		var placed, chunked int64
		for _, x := range whole.Shards {
			placed += x.Rows
		}
		for _, x := range whole.Chunks {
			chunked += x.Rows
		}
		if placed+whole.Astray.Rows != rows || whole.Total.Rows != rows || chunked != placed ||
			whole.Seconds != float64(in)*heat.Tick.Seconds() ||
			whole.More != 0 {
			t.Fatalf("%d rows; %d placed, %d in chunks, %d astray, %v s", rows, placed, chunked, whole.Astray.Rows, whole.Seconds)
		}
		cut := rapid.IntRange(0, len(all)).Draw(t, "restart")
		spans := []keySpan{{minKey(), maxKey()}}
		parts := countWindow(all[:cut], w, spans, time.Time{}).plus(countWindow(all[cut:], w, spans, time.Time{}))
		if parts.Total != whole.Total || parts.Seconds != whole.Seconds || fmt.Sprint(parts.Shards) != fmt.Sprint(whole.Shards) ||
			fmt.Sprint(parts.Chunks) != fmt.Sprint(whole.Chunks) {
			t.Fatalf("in parts %+v, whole %+v", parts, whole)
		}
	})
}

func TestWideRangeListsItsHottestChunksAndTheNumberOfOthers(t *testing.T) {
	var bounds []int64
	shards := []string{"a"}
	for i := range int64(200) {
		bounds, shards = append(bounds, i), append(shards, "a")
	}
	c := collection(t, bounds, shards...)
	rows := make([]int64, 201)
	for i := range rows {
		rows[i] = int64(i % 150)
	}
	w := Span{start.Truncate(windowAlignment), start.Truncate(windowAlignment).Add(Window)}
	got := countWindow([]sample{tenSeconds(c, w.From, rows...)}, w, []keySpan{{minKey(), maxKey()}, {keyAt(3), keyAt(90)}}, time.Time{})
	if len(got.Chunks) != chunksListed || got.More != 201-chunksListed || got.Chunks[0].Rows != 149 {
		t.Errorf("%d listed, %d more, the hottest has %d", len(got.Chunks), got.More, got.Chunks[0].Rows)
	}
	for i := 1; i < len(got.Chunks); i++ {
		if got.Chunks[i].Rows > got.Chunks[i-1].Rows {
			t.Errorf("chunk %d is hotter than the one before it", i)
		}
	}
}

func TestSampledRatesHaveAnError(t *testing.T) {
	c := collection(t, []int64{0}, "a", "b")
	w := Span{start.Truncate(windowAlignment), start.Truncate(windowAlignment).Add(Window)}
	s := fullWindow(w, c, 10, 0)
	for i := range s {
		s[i].slot.Every = 10
	}
	got := countWindow(s, w, []keySpan{{minKey(), maxKey()}}, time.Time{})
	hot, cold := got.rate(got.Shards["a"]), got.rate(got.Shards["b"])
	if hot.PerSecond != 10 || hot.Exact || hot.PlusMinus <= 0 || cold.PerSecond != 0 || cold.PlusMinus <= 0 {
		t.Errorf("%+v, %+v", hot, cold)
	}
}

package app

import (
	"cmp"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/bench"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

// traces are what a process keeps while it runs.
type traces struct {
	memory, goroutines, descriptors, stored int64 // bytes, of the data directory too
}

// A server runs for hours beside Yorkie's writers, a balancer that is at work, 20 runs an hour, problems that come and
// go, and browsers that come and go. After the first third nothing grows but the record of what happened.
func TestHoursOfWorkLeaveNothingBehind(t *testing.T) {
	hours, err := time.ParseDuration(os.Getenv("SHARDBOARD_DAY"))
	if err != nil {
		t.Skip("runs for hours, with SHARDBOARD_DAY=3h")
	}
	h := prepareInstallation(t)
	kill(h.sim) // which stood still
	h.sim = h.start("simcluster", "--listen", h.simAt, "--projects", "12", "--documents", "300", "--faults", "--pace", "0.1")
	h.startWeb()

	begin := time.Now()
	var seen []traces
	next := begin
	for work := 0; time.Since(begin) < hours; work++ {
		h.oneWork(work)
		next = next.Add(3 * time.Minute)
		for time.Now().Before(next) && time.Since(begin) < hours {
			h.visit()
			seen = append(seen, h.traces())
		}
	}

	third := len(seen) / 3
	middle, last := seen[third:2*third], seen[2*third:]
	for _, x := range []struct {
		name string
		of   func(traces) int64
	}{
		{"memory", func(s traces) int64 { return s.memory }},
		{"goroutines", func(s traces) int64 { return s.goroutines }},
		{"descriptors", func(s traces) int64 { return s.descriptors }},
	} {
		before, after := median(middle, x.of), median(last, x.of)
		t.Logf("%s: %d in the second third, %d in the last", x.name, before, after)
		expect.That(t, after <= before+before/20, "%s grew from %d to %d", x.name, before, after)
	}
	grown := seen[len(seen)-1].stored - seen[third].stored
	t.Logf("stored: %d bytes after a third, %d more in %s", seen[third].stored, grown, hours*2/3)

	kill(h.web)
	again := time.Now()
	h.startWeb()
	took := time.Since(again)
	t.Logf("ready %s after a start", took)
}

// oneWork is a change, alternately a run and a problem that comes or goes.
func (h *installation) oneWork(n int) {
	h.t.Helper()
	ctx := h.t.Context()
	switch n % 4 {
	case 0, 2:
		at := int64(n+1) << 40
		if r := h.waitForRun(h.startRun("split", splitAt(at)).ID); r.State == "succeeded" {
			h.undo(r.ID)
		}
	case 1:
		must.Do(h.t, h.driver.Database("admin").RunCommand(ctx, bson.D{{Key: "balancerStop", Value: 1}}).Err())
	case 3:
		must.Do(h.t, h.driver.Database("admin").RunCommand(ctx, bson.D{{Key: "balancerStart", Value: 1}}).Err())
	}
}

// mostOpened are the pages that people look at most.
var mostOpened = []string{"/", "/map", "/matrix", "/collections/yorkie-meta.changes", "/heat", "/activity", "/advice", "/runs"}

// visit is people who look at some pages, follow one of them for some seconds and leave.
func (h *installation) visit() {
	h.t.Helper()
	leave := make(chan struct{})
	time.AfterFunc(10*time.Second, func() { close(leave) })
	for _, page := range mostOpened {
		res, err := http.Get("http://" + h.webAt + page)
		must.Do(h.t, err)
		res.Body.Close()
		expect.Equal(h.t, res.StatusCode, http.StatusOK, "%s: %s", page, res.Status)
	}
	followed, err := bench.Follow(h.t.Context(),
		bench.SocketRun{Addr: h.webAt, Topic: "overview", Sockets: 5, Ready: func(int) {}, Done: leave})
	expect.That(h.t, err == nil && followed.Lost == 0, "%d sockets lost (%s): %v", followed.Lost, followed.Reason, err)
}

func (h *installation) traces() (s traces) {
	h.t.Helper()
	s.memory = anonymousMemory(h.t, h.web.Process.Pid)
	res, err := http.Get("http://" + h.webAt + "/metrics")
	must.Do(h.t, err)
	defer res.Body.Close()
	families := parsedMetrics(h.t, res.Body)
	value := func(name string) int64 {
		f := families[name]
		must.That(h.t, f != nil && f.GetType() == dto.MetricType_GAUGE, "no gauge %s", name)
		return int64(f.Metric[0].Gauge.GetValue())
	}
	s.goroutines, s.descriptors = value("go_goroutines"), value("process_open_fds")
	must.Do(h.t, filepath.Walk(h.data, func(_ string, f os.FileInfo, err error) error {
		if err == nil && !f.IsDir() && !strings.HasSuffix(f.Name(), "-wal") {
			s.stored += f.Size()
		}
		return nil
	}))
	return s
}

func median(of []traces, value func(traces) int64) int64 {
	sorted := slices.SortedFunc(slices.Values(of), func(a, b traces) int { return cmp.Compare(value(a), value(b)) })
	return value(sorted[len(sorted)/2])
}

package app

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"shardboard/internal/auth"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
)

// BenchmarkRequestsInACrowd measures response times of signed-in people while a crowd
// holds connections and live sockets. One in a hundred of them is hostile: slow, silent
// or half closed. The p99 is compared with that of the same server without the crowd,
// before and after. p99-ratio uses the median p99 of all turns of five seconds, so that
// short disturbances of the machine count little; whole-p99-ratio uses all answers
// together. With SHARDBOARD_LONG=1 the crowd stays for ten minutes, otherwise for one
// turn. The simulated cluster changes, so that live pages have updates.
func BenchmarkRequestsInACrowd(b *testing.B) {
	const turn = 5 * time.Second
	stay, calm := 1, 1 // turns
	if os.Getenv("SHARDBOARD_LONG") != "" {
		stay, calm = 120, 12
	}
	const connections = 8000
	if files := openFiles(); files != 0 && files < connections+reservedFiles {
		b.Skipf("this process may have %d open files, and the crowd needs %d (ulimit -n)", files, connections+reservedFiles)
	}
	d := startDemo(b, simcluster.Options{Projects: 12, Documents: 300, Seed: 7}, topology.Options{})
	a := d.startBeside(b, Config{Listen: "127.0.0.1:0", MaxConnections: connections, Auth: Auth{Mode: "local"}})
	cookies := signInAccounts(b, a, 60)
	c := &crowd{Addr: a.Addr(), Cookies: cookies, Connections: 5000, Sockets: 1000, Hostile: 100, Every: 80 * time.Second}
	turns := func(n int) (took [][]time.Duration) {
		for range n {
			took = append(took, timePeople(b, a, cookies, turn))
		}
		return took
	}
	turns(1) // warm-up
	idle := turns(calm)
	disperse := c.start(b)
	first := a.listener.Stats()
	crowded := turns(stay)
	last := a.listener.Stats()
	seen := disperse()
	idle = append(idle, turns(calm)...)
	b.Run("crowd", func(b *testing.B) { // measured once, even if the benchmark repeats
		for b.Loop() {
		}
		b.Logf("%d open at the start, %d at the end; %d evicted, %d refused; the crowd counted %+v",
			first.Open, last.Open, last.Evicted, last.Refused, seen)
		b.Logf("idle:    %v", summary(idle))
		b.Logf("crowded: %v", summary(crowded))
		expect.That(b, seen.lost == 0 && last.Refused == 0 && first.Open >= 5900 && last.Open >= 5900,
			"honest connections were lost or missing")
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(float64(medianP99(crowded))/float64(medianP99(idle)), "p99-ratio")
		b.ReportMetric(float64(p99(slices.Concat(crowded...)))/float64(p99(slices.Concat(idle...))), "whole-p99-ratio")
		b.ReportMetric(float64(medianP99(idle).Microseconds())/1000, "idle-p99-ms")
	})
}

// medianP99 returns the median of the p99 of all turns.
func medianP99(turns [][]time.Duration) time.Duration {
	var each []time.Duration
	for _, took := range turns {
		each = append(each, p99(took))
	}
	slices.Sort(each)
	return each[len(each)/2]
}

func p99(took []time.Duration) time.Duration {
	slices.Sort(took)
	return took[len(took)*99/100]
}

func summary(turns [][]time.Duration) string {
	all := slices.Concat(turns...)
	slices.Sort(all)
	at := func(part float64) time.Duration {
		return all[int(part*float64(len(all)-1))].Round(100 * time.Microsecond)
	}
	return fmt.Sprintf("%d answers, median %v, p90 %v, p99 %v, slowest %v; median p99 of %d turns %v",
		len(all), at(.5), at(.9), at(.99), at(1), len(turns), medianP99(turns).Round(100*time.Microsecond))
}

// signInAccounts creates accounts and returns a session cookie for each.
func signInAccounts(b *testing.B, a *App, n int) (cookies []string) {
	b.Helper()
	by := auth.Principal{ID: "user:first", Name: "first", Role: auth.Admin, Method: auth.ByPassword}
	for i := range n {
		name, password := fmt.Sprintf("person%d", i), "correct horse battery"
		must.Do(b, must.Err(a.current().auth.CreateUser(b.Context(), by, auth.NewUser{Name: name, Password: password, Role: auth.Support})))
		cookie, _, err := a.current().auth.SignIn(b.Context(), auth.Credentials{Name: name, Password: password, From: "127.0.0.1"})
		must.Do(b, err)
		cookies = append(cookies, cookie.Name+"="+cookie.Value)
	}
	return cookies
}

// timePeople sends requests as four people, each every 40 ms, one in ten on a new
// connection. It returns how long each answer took since the request was due.
func timePeople(b *testing.B, a *App, cookies []string, during time.Duration) (took []time.Duration) {
	b.Helper()
	var mu sync.Mutex
	var all sync.WaitGroup
	end := time.Now().Add(during)
	for who := range 4 {
		all.Go(func() {
			client := &http.Client{Timeout: time.Minute, Transport: &http.Transport{}}
			defer client.CloseIdleConnections()
			tick := time.NewTicker(40 * time.Millisecond)
			defer tick.Stop()
			var mine []time.Duration
			for i := who; ; i++ {
				due := <-tick.C
				if due.After(end) {
					break
				}
				if i%10 == 0 {
					client.CloseIdleConnections()
				}
				r, _ := http.NewRequest("GET", a.URL()+[]string{"", "api/v1/cluster", "projects", "collections"}[i%4], nil)
				r.Header.Set("Cookie", cookies[len(cookies)-1-who])
				res, err := client.Do(r)
				if err != nil {
					b.Error(err)
					return
				}
				body, err := io.ReadAll(res.Body)
				_ = res.Body.Close()
				if err != nil || res.StatusCode != http.StatusOK || !strings.Contains(res.Header.Get("Content-Type"), "utf-8") && len(body) == 0 {
					b.Errorf("%s: unexpected status %s, error %v", r.URL.Path, res.Status, err)
					return
				}
				mine = append(mine, time.Since(due))
			}
			mu.Lock()
			defer mu.Unlock()
			took = append(took, mine...)
		})
	}
	all.Wait()
	return took
}

// start starts the process and waits until all connections are open. disperse ends it.
func (c *crowd) start(t testing.TB) (disperse func() crowdSeen) {
	t.Helper()
	text := must.Get(json.Marshal(c))
	cmd := exec.Command(os.Args[0], "-test.run=^TestCrowdProcess$", "-test.timeout=2h")
	cmd.Env, cmd.Stderr = append(os.Environ(), crowdVariable+"="+string(text)), os.Stderr
	in, err := cmd.StdinPipe()
	must.Do(t, err)
	out := must.Get(cmd.StdoutPipe())
	must.Do(t, cmd.Start())
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if lines.Text() == "crowd ready" {
			break
		}
		t.Log(lines.Text())
	}
	return func() (seen crowdSeen) {
		_ = in.Close()
		for lines.Scan() {
			_, _ = fmt.Sscanf(lines.Text(), "crowd over %d %d %d %d", &seen.requests, &seen.frames, &seen.lost, &seen.closed)
		}
		_ = cmd.Wait()
		return seen
	}
}

package app

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/cluster"
	"shardboard/internal/configfile"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster"
)

// fleet is a running server of several simulated clusters, with accounts.
type fleet struct {
	app     *App
	file    func() (Config, error)  // what the configuration file says at a reload
	cookies map[string]*http.Cookie // by name of the account
}

// simulated starts a simulated cluster and returns its address.
func simulated(t *testing.T, seed int64) cluster.URI {
	t.Helper()
	_, uri := startSimulated(t, seed)
	return uri
}

func startSimulated(t *testing.T, seed int64) (*simcluster.Cluster, cluster.URI) {
	t.Helper()
	o := quietCluster()
	o.Seed = seed
	d := &demo{addr: "127.0.0.1:0"}
	d.restartCluster(t, o)
	t.Cleanup(func() { d.stopCluster(t) })
	uri := must.Get(cluster.ParseURI("mongodb://" + d.addr + "/?directConnection=true"))
	return d.sim, uri
}

func startFleet(t *testing.T, list ...ClusterConfig) *fleet {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	c := Config{Listen: "127.0.0.1:0", Version: "test", Log: log, Clusters: list, File: "shardboard.yaml",
		Auth: Auth{Mode: "local", Cost: auth.Cost{Memory: 64, Time: 1}}}
	for i := range list {
		list[i].Log = log
		if list[i].Title == "" {
			list[i].Title = list[i].Name
		}
	}
	f := &fleet{cookies: map[string]*http.Cookie{}}
	c.Reload = func() (Config, error) { return f.file() }
	a, err := New(t.Context(), c)
	must.Do(t, err)
	f.app = a
	a.Start()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		expect.NoError(t, a.Stop(ctx), "Stop")
	})
	for name, role := range map[string]auth.Role{"vera": auth.Viewer, "olga": auth.Operator, "adam": auth.Admin} {
		who := auth.NewUser{Name: name, Password: "correct horse battery", Role: role}
		must.Do(t, must.Err(a.current().auth.CreateUser(t.Context(), auth.Console(), who)))
		f.cookies[name], _, err = a.current().auth.SignIn(t.Context(), auth.Credentials{Name: name, Password: who.Password})
		must.Do(t, err)
	}
	a.current().waitLoaded(t.Context())
	return f
}

// get asks as somebody; "" is nobody.
func (f *fleet) get(t *testing.T, who, path string) (status int, body string) {
	t.Helper()
	r := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+f.app.Addr()+path, nil))
	r.Header.Set("X-Request-ID", "of-the-test") // else each answer has one of its own
	if token, ok := strings.CutPrefix(who, "token "); ok {
		r.Header.Set("Authorization", "Bearer "+token)
	} else if who != "" {
		r.AddCookie(f.cookies[who])
	}
	client := sessionClient(t)
	client.Jar = nil // the session is that of who asks
	res, err := client.Do(r)
	must.Do(t, err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	must.Do(t, err)
	return res.StatusCode, string(text)
}

// names are the clusters that somebody is told of.
func (f *fleet) names(t *testing.T, who string) (out []string) {
	t.Helper()
	status, body := f.get(t, who, "/api/v1/clusters")
	var list api.List[api.ClusterSummary]
	err := json.Unmarshal([]byte(body), &list)
	must.That(t, status == http.StatusOK && err == nil, "%d %v: %s", status, err, body)
	for _, c := range list.Items {
		out = append(out, c.Name+" "+c.State+" "+c.Role)
	}
	return out
}

func TestSeveralClustersInOneServer(t *testing.T) {
	a, b := simulated(t, 1), simulated(t, 2)
	nowhere := must.Get(cluster.ParseURI("mongodb://127.0.0.1:1/"))
	secret := auth.ClusterRoles{"everyone": "none", "user:olga": "viewer", "role:admin": "same"}
	raised := auth.ClusterRoles{"user:vera": "operator"}
	f := startFleet(t, ClusterConfig{Name: "open", URI: a, Actions: true, Roles: raised, Settings: "1"},
		ClusterConfig{Name: "secret", URI: b, Actions: true, Roles: secret, Settings: "1"},
		ClusterConfig{Name: "gone", URI: nowhere, Settings: "1", Cluster: cluster.Options{Timeout: 400 * time.Millisecond}})

	t.Run("role, cluster and route decide", func(t *testing.T) {
		by, _, err := f.app.current().auth.CreateToken(t.Context(), principal(t, f, "vera"), auth.NewToken{Name: "script", Role: auth.Viewer,
			Expires: time.Now().Add(time.Hour)})
		must.Do(t, err)
		bound, _, err := f.app.current().auth.CreateToken(t.Context(), principal(t, f, "vera"), auth.NewToken{Name: "bound",
			Clusters: map[string]auth.Role{"open": auth.Support}, Expires: time.Now().Add(time.Hour)})
		must.Do(t, err)
		for path, says := range map[string]string{"/c/gone/api/v1/shards": "This token is bound to open: it may do nothing elsewhere.",
			"/api/v1/users": "This token is bound to open"} {
			_, body := f.get(t, "token "+bound, path)
			expect.Contains(t, body, says, "%s does not say %q", path, says)
		}
		if got := strings.Join(f.names(t, "token "+bound), "; "); got != "open live support" {
			t.Error(got)
		}
		for who, want := range map[string]map[string]int{
			"vera": {
				"/c/open/": 200, "/c/open/plans/new": 200, "/c/open/api/v1/shards": 200, "/c/open/live?t=zones": 426, "/c/open/locate": 200,
				"/c/secret/": 404, "/c/secret/api/v1/shards": 404, "/c/secret/live?t=zones": 404, "/c/secret/nothing": 404,
				"/c/secret": 404, "/c/none/": 404, "/audit": 403, "/settings/users": 403,
			},
			"olga": {"/c/open/plans/new": 200, "/c/secret/": 200, "/c/secret/plans/new": 403, "/c/secret/locate": 403,
				"/c/secret/api/v1/shards": 200, "/audit": 200},
			"adam": {"/c/secret/plans/new": 200, "/settings/users": 200, "/c/secret": 303, "/c/secret/settings": 404},
			"": {"/c/open/": 303, "/c/secret/": 303, "/c/none/": 303, "/c/open/api/v1/shards": 401,
				"/c/secret/api/v1/shards": 401, "/c/none/api/v1/shards": 401},
			"token " + by: {"/c/open/api/v1/shards": 200, "/c/open/api/v1/locate?q=x": 403, "/c/secret/api/v1/shards": 404},
			"token " + bound: {"/c/open/api/v1/shards": 200, "/c/open/api/v1/locate?q=x": 404, "/c/open/plans/new": 403,
				"/c/gone/api/v1/cluster": 403, "/c/secret/api/v1/shards": 403, "/c/none/": 403, "/api/v1/clusters": 200, "/audit": 403,
				"/api/v1/users": 403, "/metrics": 200, "/api/v1/data": 403, "/live?t=clusters": 426},
		} {
			for path, status := range want {
				got, body := f.get(t, who, path)
				expect.That(t, got == status, "%.6s at %s: %d, want %d: %.300s", who, path, got, status, body)
			}
		}
	})

	t.Run("what may not be seen is nowhere", func(t *testing.T) {
		_, hidden := f.get(t, "vera", "/c/secret/projects")
		_, none := f.get(t, "vera", "/c/none/projects")
		age := regexp.MustCompile(` data-at="[^"]*"`) // when the page was made
		expect.Equal(t, age.ReplaceAllString(strings.ReplaceAll(none, "/c/none", "/c/secret"), ""), age.ReplaceAllString(hidden, ""),
			"a hidden cluster differs from none:\n%s\n%s", hidden, none)
		if got := strings.Join(f.names(t, "vera"), "; "); got != "gone unreachable viewer; open live operator" {
			t.Error(got)
		}
		if got := strings.Join(f.names(t, "olga"), "; "); got != "gone unreachable operator; open live operator; secret live viewer" {
			t.Error(got)
		}
		for _, path := range []string{"/", "/clusters.csv", "/c/open/", "/api/v1/find?q=s", "/c/open/api/v1/find?q=secret"} {
			_, body := f.get(t, "vera", path)
			expect.That(t, !strings.Contains(body, "/c/secret"), "%s names the hidden cluster", path)
		}
	})

	t.Run("sign-in leads back, and says nothing of which clusters there are", func(t *testing.T) {
		for _, name := range []string{"open", "secret", "none"} {
			res, err := sessionClient(t).Get("http://" + f.app.Addr() + "/c/" + name + "/projects?page=2")
			must.Do(t, err)
			_ = res.Body.Close()
			expect.Equal(t, res.Header.Get("Location"), "/login?next=%2Fc%2F"+name+"%2Fprojects%3Fpage%3D2", "%s: %d to", name, res.StatusCode)
		}
		status, body := f.get(t, "", "/login?next=%2Fc%2Fopen%2Fprojects")
		expect.That(t, status == 200 &&
			strings.Contains(body, `value="/c/open/projects"`), "%d: the form does not keep the way back", status)
	})

	t.Run("one that does not answer says so and is no reason for the others", func(t *testing.T) {
		status, body := f.get(t, "vera", "/c/gone/projects")
		expect.That(t, status == 200 && strings.Contains(body, "127.0.0.1:1"), "%d %s", status, body)
		status, body = f.get(t, "", "/readyz")
		expect.That(t, status == 200, "%d %s", status, body)
	})

	t.Run("metrics name the cluster", func(t *testing.T) {
		_, body := f.get(t, "adam", "/metrics")
		for _, want := range []string{`shardboard_shards{cluster="open"} 3`, `shardboard_shards{cluster="secret"} 3`,
			"shardboard_config_last_reload_successful 1",
			`shardboard_cluster_up{cluster="gone"} 0`,
			"shardboard_data_trouble 0"} {
			expect.Contains(t, body, want, "the page")
		}
	})

	t.Run("a reload touches only what it changes", func(t *testing.T) {
		head := http.Header{"Cookie": {f.cookies["adam"].String()}, "Origin": {"http://" + f.app.Addr()}}
		socket, _, err := websocket.DefaultDialer.Dial("ws://"+f.app.Addr()+"/c/open/live?t=zones", head)
		must.Do(t, err)
		defer socket.Close()
		s, next := f.app.current().clusters, f.app.config
		before := s.named("open").now()

		f.file = func() (Config, error) {
			bad := &configfile.Problems{Lines: []string{"shardboard.yaml:3: there is no key x", "shardboard.yaml:4: y"}}
			return Config{}, bad
		}
		if err := f.app.Reload(t.Context()); err == nil || s.Configuration().Failed.IsZero() {
			t.Errorf("%v %+v", err, s.Configuration())
		}
		_, body := f.get(t, "adam", "/")
		expect.That(t, strings.Contains(body, "shardboard.yaml:4: y"), "the page does not say why the configuration is not in force")
		_, body = f.get(t, "vera", "/")
		expect.That(t, !strings.Contains(body, "shardboard.yaml"), "a viewer reads the configuration's mistakes")

		next.Clusters = []ClusterConfig{next.Clusters[0], {Name: "third", Title: "Third", URI: b, Log: next.Log, Settings: "1"}}
		next.Clusters[0].Roles = nil
		next.Fixed = map[string]string{"listen": "127.0.0.1:9"}
		f.file = func() (Config, error) { return next, nil }
		must.Do(t, f.app.Reload(t.Context()))
		expect.Equal(t, s.named("open").now(), before, "the cluster that did not change was made anew")
		c := s.Configuration()
		expect.That(t, c.Failed.IsZero() && len(c.Pending) == 1 && c.Pending[0] == "listen", "%+v", c)
		if !eventually(settledWithin, func() bool { return strings.Join(f.names(t, "vera"), "; ") == "open live viewer; third live viewer" }) {
			t.Error(f.names(t, "vera"))
		}
		status, _ := f.get(t, "adam", "/c/secret/")
		expect.Equal(t, status, 404, "a removed cluster answers")
		_ = socket.SetReadDeadline(time.Now().Add(time.Minute))
		if _, _, err := socket.ReadMessage(); err != nil {
			t.Errorf("the socket of the cluster that stayed was cut: %v", err)
		}
		records, err := f.app.current().store.AuditRecords(t.Context(), 0, 100)
		must.Do(t, err)
		last := records[len(records)-1]
		if last.What != "configuration.reloaded" || last.Details["added"] != "third" || last.Details["removed"] != "gone, secret" &&
			last.Details["removed"] != "secret, gone" || last.Details["roles"] != "open" || last.Details["restart"] != "listen" {
			t.Errorf("%+v", last)
		}
	})

	t.Run("two addresses of one cluster are one too many", func(t *testing.T) {
		next := f.app.configNow()
		next.Clusters = append(slices.Clone(next.Clusters), ClusterConfig{Name: "twin", Title: "Twin", URI: a, Log: next.Log, Settings: "1"})
		f.file = func() (Config, error) { return next, nil }
		must.Do(t, f.app.Reload(t.Context()))
		if !eventually(settledWithin, func() bool {
			_, body := f.get(t, "adam", "/api/v1/clusters")
			return strings.Contains(body, "This is the same cluster as open")
		}) {
			t.Error(f.names(t, "adam"))
		}
	})
}

// principal is who an account is.
func principal(t *testing.T, f *fleet, name string) auth.Principal {
	t.Helper()
	r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+f.app.Addr()+"/", nil)
	r.AddCookie(f.cookies[name])
	p, err := f.app.current().auth.Identify(nil, r)
	must.Do(t, err)
	return p
}

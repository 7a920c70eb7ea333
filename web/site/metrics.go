package site

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"shardboard/internal/answer"
	"shardboard/internal/store"
	"shardboard/internal/topology"
)

// Metrics is what shardboard tells Prometheus about itself. Figures of the
// cluster carry its id, so that several clusters can share one Prometheus, and
// are read from the table when asked for: nothing is counted twice.
type Metrics struct {
	server   *Site
	handler  http.Handler
	duration *prometheus.HistogramVec
	renders  prometheus.Counter
	failures prometheus.Counter

	auditOK, auditAge                                              *prometheus.Desc
	age, seq, chunks, collections, shards, projects, sockets, data *prometheus.Desc
}

func newMetrics(reg *prometheus.Registry, s *Site) *Metrics {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("shardboard_"+name, help, append([]string{"cluster"}, labels...), nil)
	}
	m := &Metrics{
		server: s,
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "shardboard_http_request_duration_seconds", Help: "Time to answer a request, by route pattern.",
			Buckets: []float64{.001, .003, .01, .03, .1, .3, 1, 3, 10},
		}, []string{"route", "method", "status"}),
		renders: prometheus.NewCounter(prometheus.CounterOpts{Name: "shardboard_live_renders_total", Help: "Live regions drawn."}),
		failures: prometheus.NewCounter(prometheus.CounterOpts{Name: "shardboard_live_render_failures_total",
			Help: "Live regions that could not be drawn."}),

		age:         desc("poll_age_seconds", "Time since a part of the table was last read well; absent before the first time.", "part"),
		seq:         desc("table_seq", "Number of the routing table; grows with each change."),
		chunks:      desc("chunks", "Chunks of all sharded collections."),
		collections: desc("collections", "Sharded collections."),
		shards:      desc("shards", "Shards."),
		projects:    desc("projects", "Projects in the directory."),
		auditOK: prometheus.NewDesc(
			"shardboard_audit_ok",
			"1 while the audit record is in order and signed; 0 while it is broken, damaged or cannot be checked; absent before the first check.",
			nil,
			nil,
		),
		auditAge: prometheus.NewDesc(
			"shardboard_audit_verified_age_seconds",
			"Time since the audit record was last verified to its end; absent before the first time.",
			nil,
			nil,
		),
		sockets: prometheus.NewDesc("shardboard_live_sockets", "Open live sockets.", nil, nil),
		data: prometheus.NewDesc(
			"shardboard_data_directory",
			"1 for how the data directory is held, 0 for the others: owned, ownedByAnother, ownerGone, vanished, unreadable.",
			[]string{"hold"},
			nil,
		),
	}
	reg.MustRegister(m, m.duration, m.renders, m.failures)
	registerTrouble(reg, s)
	m.handler = promhttp.HandlerFor(reg, promhttp.HandlerOpts{DisableCompression: true}) // send compresses
	return m
}

// Describe is for prometheus.Collector.
func (m *Metrics) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{m.age, m.seq, m.chunks, m.collections, m.shards, m.projects, m.sockets, m.data, m.auditOK,
		m.auditAge} {
		out <- d
	}
}

// Collect is for prometheus.Collector.
func (m *Metrics) Collect(out chan<- prometheus.Metric) {
	v := m.server.View()
	cluster := v.Table.ClusterID
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	chunks := 0
	for _, c := range v.Table.Collections {
		chunks += c.Chunks.Len()
	}
	for _, p := range answer.AllParts {
		if at := v.Table.Health[p].At; !at.IsZero() {
			gauge(m.age, v.Now.Sub(at).Seconds(), cluster, string(p))
		}
	}
	if at := v.Dir.Health().At; !at.IsZero() {
		gauge(m.age, v.Now.Sub(at).Seconds(), cluster, string(partProjects))
	}
	gauge(m.seq, float64(v.Table.Seq), cluster)
	gauge(m.chunks, float64(chunks), cluster)
	gauge(m.collections, float64(len(v.Table.Collections)), cluster)
	gauge(m.shards, float64(len(v.Table.Shards)), cluster)
	gauge(m.projects, float64(len(v.Dir.All())), cluster)
	for _, h := range store.Holds() {
		is := 0.0
		if h == v.Data.Hold {
			is = 1
		}
		gauge(m.data, is, string(h))
	}
	gauge(m.sockets, float64(m.server.Sockets()))
	if m.server.Deps.Audit == nil {
		return
	}
	st := m.server.Deps.Audit.State()
	switch {
	case st.Trouble() != nil:
		gauge(m.auditOK, 0)
	case !st.At.IsZero():
		gauge(m.auditOK, 1)
	}
	if !st.At.IsZero() {
		gauge(m.auditAge, v.Now.Sub(st.At).Seconds())
	}
}

// partProjects names the directory among the table's parts.
const partProjects topology.Part = "projects"

func (m *Metrics) observe(method, route string, status int, took time.Duration) {
	if status == http.StatusSwitchingProtocols {
		return // a socket's life is not the time of an answer
	}
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost:
	default:
		method = "other" // the caller's to invent
	}
	m.duration.WithLabelValues(route, method, strconv.Itoa(status)).Observe(took.Seconds())
}

func (m *Metrics) Rendered() { m.renders.Inc() }

func (m *Metrics) RenderFailed() { m.failures.Inc() }

// MetricsHandler answers any path with the metrics, for a listener of its own
// that asks nobody who they are.
func (s *Site) MetricsHandler() http.Handler { return s.Metrics.handler }

func (s *Site) ServeMetrics(w http.ResponseWriter, r *http.Request) error {
	s.Metrics.handler.ServeHTTP(w, r)
	return nil
}

// Live hands a request for the WebSocket to whoever serves it.
func (s *Site) Live(w http.ResponseWriter, r *http.Request) error { return s.ServeLive(w, r) }

// registerTrouble adds what an alert can be made of: whether our own data can be used.
func registerTrouble(reg *prometheus.Registry, s *Site) {
	reg.MustRegister(
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "shardboard_data_trouble",
			Help: "1 while shardboard's own database cannot be used as it should: damaged, incomplete, full, locked.",
		}, func() float64 {
			if s.troubleNow() != nil {
				return 1
			}
			return 0
		}),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "shardboard_data_unreadable_rows", Help: "Rows of shardboard's own database that were met since the start and cannot be read.",
		}, func() float64 {
			n := 0
			if s.Deps.Unreadable != nil {
				for _, u := range s.Deps.Unreadable() {
					n += u.Rows
				}
			}
			return float64(n)
		}),
	)
}

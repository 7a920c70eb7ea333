package site

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"shardboard/internal/alert"
	"shardboard/internal/memory"
	"shardboard/internal/store"
)

// Metrics is what the pages' server tells Prometheus about itself. Metrics of a cluster are in package
// internal/metrics.
type Metrics struct {
	server     *Site
	pages      http.Handler // at the pages' listener
	operations http.Handler // at a listener of its own
	duration   *prometheus.HistogramVec
	renders    prometheus.Counter
	failures   prometheus.Counter

	auditOK, auditAge, sockets, socketsMax, data, owner, leaseAge, terms, deliveries, alerts *prometheus.Desc
}

func newMetrics(reg *prometheus.Registry, s *Site) *Metrics {
	m := &Metrics{
		server: s,
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "shardboard_http_request_duration_seconds", Help: "Time to answer a request, by route pattern.",
			Buckets: []float64{.001, .003, .01, .03, .1, .3, 1, 3, 10},
		}, []string{"route", "method", "status"}),
		renders: prometheus.NewCounter(prometheus.CounterOpts{Name: "shardboard_live_renders_total", Help: "Live regions drawn."}),
		failures: prometheus.NewCounter(prometheus.CounterOpts{Name: "shardboard_live_render_failures_total",
			Help: "Live regions that could not be drawn."}),

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
		sockets:    prometheus.NewDesc("shardboard_live_sockets", "Open live sockets.", nil, nil),
		socketsMax: prometheus.NewDesc("shardboard_live_sockets_max", "Most live sockets that may be open.", nil, nil),
		deliveries: prometheus.NewDesc(
			"shardboard_alert_failed_deliveries",
			"Messages to an alert receiver that failed in a row; 0 after one that was delivered.",
			[]string{"receiver"},
			nil,
		),
		alerts: prometheus.NewDesc("shardboard_alerts_active",
			"Active alerts: problems that have lasted, also those that are silenced or that no receiver wants.", nil, nil),
		owner: prometheus.NewDesc(
			"shardboard_store_owner",
			"1 while this process owns shardboard's data: it records history, sends alerts and executes runs. 0 while it only reads.",
			nil,
			nil,
		),
		leaseAge: prometheus.NewDesc(
			"shardboard_store_lease_age_seconds",
			"Time since the leader of a shared store renewed its lease, as far as this process saw; absent while nobody leads.",
			nil,
			nil,
		),
		terms: prometheus.NewDesc(
			"shardboard_store_leads_total",
			"How often the lead of a shared store was taken since it was made, as far as this process saw.",
			nil,
			nil,
		),
		data: prometheus.NewDesc(
			"shardboard_data_directory",
			"1 for how the data directory is held, 0 for the others: owned, ownedByAnother, ownerGone, vanished, unreadable, unreachable.",
			[]string{"hold"},
			nil,
		),
	}
	reg.MustRegister(m, m.duration, m.renders, m.failures)
	var from prometheus.Gatherer = reg
	if s.Deps.Metrics.Gatherer != nil {
		from = s.Deps.Metrics.Gatherer
	}
	if s.ofServer() {
		registerTrouble(reg, s)
		registerMemory(reg, s.Deps.Store.Memory)
	}
	// One cluster that cannot be gathered must not hide the others. Gathering reads memory only. Should it wait all the
	// same, Prometheus gets an answer before its own limit ends.
	options := promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError, EnableOpenMetrics: true, Timeout: gatherTimeout}
	m.operations = promhttp.HandlerFor(from, options)
	options.DisableCompression = true // send compresses
	m.pages = promhttp.HandlerFor(from, options)
	return m
}

// Describe is for prometheus.Collector.
func (m *Metrics) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{m.sockets, m.socketsMax, m.data, m.owner, m.leaseAge, m.terms, m.deliveries, m.alerts,
		m.auditOK, m.auditAge} {
		out <- d
	}
}

// Collect is for prometheus.Collector.
func (m *Metrics) Collect(out chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	gauge(m.sockets, float64(m.server.Sockets()))
	if n := m.server.Deps.Access.MaxSockets; n > 0 {
		gauge(m.socketsMax, float64(n))
	}
	if alerts := m.server.Deps.Problems.Alerts; alerts != nil {
		m.collectAlerts(alerts.Counts(), gauge)
	}
	if m.server.ofServer() {
		m.collectServer(out, gauge)
	}
}

// collectAlerts sends how the alerts of a cluster are.
func (m *Metrics) collectAlerts(c alert.Counts, gauge func(*prometheus.Desc, float64, ...string)) {
	for name, failed := range c.Failed {
		gauge(m.deliveries, float64(failed), name) // names are checked when the file is read
	}
	gauge(m.alerts, float64(c.Firing))
}

// collectServer sends the state of what all clusters share.
func (m *Metrics) collectServer(out chan<- prometheus.Metric, gauge func(*prometheus.Desc, float64, ...string)) {
	data, now := m.server.Deps.Store.Condition(), m.server.Deps.Now()
	for _, h := range store.Holds() {
		is := 0.0
		if h == data.Hold {
			is = 1
		}
		gauge(m.data, is, string(h))
	}
	owner := 0.0
	if data.Hold == store.Owned && (m.server.Deps.Store.Leads == nil || m.server.Deps.Store.Leads()) {
		owner = 1
	}
	gauge(m.owner, owner)
	if leader := m.server.Deps.Store.leader(); leader.Shared {
		out <- prometheus.MustNewConstMetric(m.terms, prometheus.CounterValue, float64(leader.Term))
		if !leader.Renewed.IsZero() {
			gauge(m.leaseAge, now.Sub(leader.Renewed).Seconds())
		}
	}
	if m.server.Deps.Audit.Trail == nil {
		return
	}
	st := m.server.Deps.Audit.Trail.State()
	switch {
	case st.Trouble() != nil:
		gauge(m.auditOK, 0)
	case !st.At.IsZero():
		gauge(m.auditOK, 1)
	}
	if !st.At.IsZero() {
		gauge(m.auditAge, now.Sub(st.At).Seconds())
	}
}

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

// gatherTimeout is less than Prometheus' default limit of 10 s.
const gatherTimeout = 8 * time.Second

// MetricsHandler answers any path with the metrics, for a listener of its own
// that asks nobody who they are.
func (s *Site) MetricsHandler() http.Handler { return s.Metrics.operations }

func serveMetrics(s *Site, w http.ResponseWriter, r *http.Request) error {
	s.Metrics.pages.ServeHTTP(w, r)
	return nil
}

// live hands a request for the WebSocket to whoever serves it.
func live(s *Site, w http.ResponseWriter, r *http.Request) error { return s.ServeLive(w, r) }

// registerTrouble adds what an alert can be made of: whether our own data can be used.
func registerTrouble(reg *prometheus.Registry, s *Site) {
	reg.MustRegister(
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "shardboard_data_trouble",
			Help: "1 while shardboard's own database cannot be used as it should: damaged, incomplete, full, locked.",
		}, func() float64 {
			if s.Deps.Store.troubleNow() != nil {
				return 1
			}
			return 0
		}),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "shardboard_data_unreadable_rows", Help: "Rows of shardboard's own database that were met since the start and cannot be read.",
		}, func() float64 {
			n := 0
			if s.Deps.Store.Unreadable != nil {
				for _, u := range s.Deps.Store.Unreadable() {
					n += u.Rows
				}
			}
			return float64(n)
		}),
	)
}

// registerMemory adds the limit of memory, where there is one, and what has been given up for it.
func registerMemory(reg *prometheus.Registry, g *memory.Guard) {
	if g == nil {
		return
	}
	gauge := func(name, help string, of func(memory.State) float64) {
		reg.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 { return of(g.State()) }))
	}
	gauge("shardboard_memory_limit_bytes", "Limit of memory (--memory-limit, or the container's).",
		func(st memory.State) float64 { return float64(st.Limit.Bytes) })
	gauge("shardboard_memory_used_bytes", "Heap that is compared with the limit.", func(st memory.State) float64 { return float64(st.Used) })
	gauge("shardboard_memory_step", "What has been given up to stay below the limit: 0 nothing, 1 heat, 2 and history, 3 and the map, "+
		"4 and growing routing tables.", func(st memory.State) float64 { return float64(st.Step) })
	reg.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "shardboard_memory_refused_reads_total",
		Help: "Reads of routing tables that were refused because they do not fit."}, func() float64 { return float64(g.State().Refused) }))
}

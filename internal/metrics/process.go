package metrics

import (
	"runtime"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// NewBuildInfo tells which version runs.
func NewBuildInfo(version string) prometheus.Collector {
	info := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "shardboard_build_info",
		Help: "Always 1, with the version of shardboard and of Go that it was built with."}, []string{"version", "goversion"})
	info.WithLabelValues(labelOf(version), runtime.Version()).Set(1)
	return info
}

// Reload tells how the configuration was read last. Safe for concurrent use.
type Reload struct {
	mu   sync.Mutex
	good bool
	at   time.Time // of the last good one
}

// NewReload begins with a configuration that was read well.
func NewReload(at time.Time) *Reload { return &Reload{good: true, at: at} }

// Done records that the configuration was read again, or why it could not be.
func (r *Reload) Done(at time.Time, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.good = err == nil; r.good {
		r.at = at
	}
}

var (
	reloadGood = prometheus.NewDesc("shardboard_config_last_reload_successful",
		"1 while the configuration was last read well, 0 after a failed attempt, when the earlier one stays in use.", nil, nil)
	reloadAt = prometheus.NewDesc("shardboard_config_last_reload_success_timestamp_seconds",
		"When the configuration was last read well, in seconds since 1970.", nil, nil)
)

// Describe is for prometheus.Collector.
func (r *Reload) Describe(out chan<- *prometheus.Desc) { out <- reloadGood; out <- reloadAt }

// Collect is for prometheus.Collector.
func (r *Reload) Collect(out chan<- prometheus.Metric) {
	r.mu.Lock()
	defer r.mu.Unlock()
	good := 0.0
	if r.good {
		good = 1
	}
	out <- prometheus.MustNewConstMetric(reloadGood, prometheus.GaugeValue, good)
	out <- prometheus.MustNewConstMetric(reloadAt, prometheus.GaugeValue, float64(r.at.UnixMilli())/1000)
}

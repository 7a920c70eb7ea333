package site

import (
	"github.com/prometheus/client_golang/prometheus"
)

// registerTrouble adds what an alert can be made of: whether our own data can be used.
func registerTrouble(reg *prometheus.Registry, s *Site) {
	reg.MustRegister(
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "shardboard_data_trouble", Help: "1 while shardboard's own database cannot be used as it should: damaged, incomplete, full, locked.",
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

package prometheus

import (
	"testing"
	"time"
)

// states are calm or intended states in which an alert must be quiet, and trouble that an expression could miss
// because series are not there.
var states = []struct {
	alert, state string
	fires        bool
	step         time.Duration // between samples; a minute if not given
	series       []string
}{
	{"ShardboardDown", "a pod that is gone is no target any more", true, 0, []string{`up{job="node"} 1x120`}},
	{"ShardboardDown", "a series that ended is missing, too", true, 0, []string{`up{job="shardboard",instance="a"} 1x60 _x60`}},
	{"ShardboardDown", "one of two replicas is restarted", false, 0,
		[]string{`up{job="shardboard",instance="a"} 0x120`, `up{job="shardboard",instance="b"} 1x120`}},
	{"ShardboardDown", "two releases with the same job, one is down", true, 0,
		[]string{`up{job="shardboard",namespace="x"} 0x120`, `up{job="shardboard",namespace="y"} 1x120`}},
	{"ShardboardReplicaDown", "all are down, which another alert says", false, 0,
		[]string{`up{job="shardboard",instance="a"} 0x120`, `up{job="shardboard",instance="b"} 0x120`}},
	{"ShardboardStoreNotWritable", "the store on MongoDB does not answer", true, 0,
		[]string{`shardboard_data_directory{hold="unreachable",instance="a"} 1x120`}},
	{"ShardboardStoreNotWritable", "a replica that only reads", false, 0,
		[]string{`shardboard_data_directory{hold="ownedByAnother",instance="a"} 1x120`, `shardboard_data_trouble{instance="a"} 0x120`}},
	{"ShardboardAuditRecordBroken", "it was in order, and nobody can verify it any more", true, 0,
		[]string{`shardboard_audit_ok{instance="a"} 1x120`, `shardboard_audit_verified_age_seconds{instance="a"} 7200x120`}},
	{"ShardboardAuditRecordBroken", "just verified", false, 0,
		[]string{`shardboard_audit_ok{instance="a"} 1x120`, `shardboard_audit_verified_age_seconds{instance="a"} 60x120`}},
	{"ShardboardNoOwner", "another release in another namespace has an owner", true, 0,
		[]string{`shardboard_store_owner{job="s",namespace="x"} 0x120`, `shardboard_store_owner{job="s",namespace="y"} 1x120`}},
	{"ShardboardClusterDown", "never reached, so that its id is not known", true, 0,
		[]string{`shardboard_cluster_up{cluster="",instance="a"} 0x120`}},
	{"ShardboardClusterDown", "starting: no poll has ended", false, 0, []string{`shardboard_metrics_dropped_series{cluster=""} 0x120`}},
	{"ShardboardClusterDown", "one replica has no way to it", false, 0,
		[]string{`shardboard_cluster_up{cluster="c",instance="a"} 1x120`, `shardboard_cluster_up{cluster="c",instance="b"} 0x120`}},
	{"ShardboardPollOld", "the whole cluster is down, which another alert says", false, 0,
		[]string{`shardboard_poll_age_seconds{cluster="c",part="zones"} 4000x120`, `shardboard_cluster_up{cluster="c"} 0x120`}},
	{"ShardboardPollOld", "another cluster is down", true, 0,
		[]string{`shardboard_poll_age_seconds{cluster="c",part="zones"} 4000x120`, `shardboard_cluster_up{cluster="c"} 1x120`,
			`shardboard_cluster_up{cluster="d"} 0x120`}},
	{"ShardboardPollOld", "rules are not evaluated any more, so alerts about problems stand still", true, 0,
		[]string{`shardboard_poll_age_seconds{cluster="c",part="problems"} 900x120`, `shardboard_cluster_up{cluster="c"} 1x120`}},
	{"ShardboardPollOld", "a replica that does not record history while another does", false, 0,
		[]string{`shardboard_poll_age_seconds{cluster="c",part="history",instance="a"} 4000x120`,
			`shardboard_poll_age_seconds{cluster="c",part="history",instance="b"} 3x120`}},
	{"ShardboardPartUnread", "not permitted, which another alert says", false, 0,
		[]string{`shardboard_poll_failing{cluster="c",part="moves"} 1x120`, `shardboard_poll_denied{cluster="c",part="moves"} 1x120`}},
	{"ShardboardPartUnread", "the cluster was never reached", false, 0,
		[]string{`shardboard_poll_failing{cluster="c",part="routing"} 1x120`, `shardboard_cluster_up{cluster="c"} 0x120`}},
	{"ShardboardJumboChunks", "somebody dismissed the problem", false, 0,
		[]string{`shardboard_collection_jumbo_chunks{cluster="c",collection="db.x",shard="s"} 1x120`,
			`shardboard_problems{cluster="c",rule="jumbo"} 0x120`}},
	{"ShardboardJumboChunks", "the rule cannot be checked", true, 0,
		[]string{`shardboard_collection_jumbo_chunks{cluster="c",collection="db.x",shard="s"} 1x120`,
			`shardboard_problems{cluster="c",rule="drift"} 0x120`}},
	{"ShardboardJumboChunks", "two replicas that both are not dismissed", true, 0,
		[]string{`shardboard_collection_jumbo_chunks{cluster="c",collection="db.x",shard="s",instance="a"} 1x120`,
			`shardboard_problems{cluster="c",rule="jumbo",instance="a"} 1x120`, `shardboard_problems{cluster="c",rule="jumbo",instance="b"} 0x120`}},
	{"ShardboardZoneViolations", "a new zone: the balancer moves its chunks", false, 0,
		[]string{`shardboard_collection_zone_violations{cluster="c",collection="db.x",shard="s"} 0x20 90x40 50x40 20x40`}},
	{"ShardboardZoneViolations", "new in the last hour", false, 0,
		[]string{`shardboard_collection_zone_violations{cluster="c",collection="db.x",shard="s"} 0x90 9x40`}},
	{"ShardboardZoneViolations", "the balancer waits for its active window", false, 0,
		[]string{`shardboard_collection_zone_violations{cluster="c",collection="db.x",shard="s"} 9x120`,
			`shardboard_balancer_window_seconds{cluster="c"} 14400x120`}},
	{"ShardboardZoneViolations", "its window has come and gone, and nothing was moved", true, time.Hour,
		[]string{`shardboard_collection_zone_violations{cluster="c",collection="db.x",shard="s"} 9x120`,
			`shardboard_balancer_window_seconds{cluster="c"} 14400x120`}},
	{"ShardboardZoneViolations", "no window", true, 0,
		[]string{`shardboard_collection_zone_violations{cluster="c",collection="db.x",shard="s"} 9x120`,
			`shardboard_balancer_window_seconds{cluster="c"} 86400x120`}},
	{"ShardboardBalancerOff", "it waits for its active window", false, 0,
		[]string{`shardboard_balancer_enabled{cluster="c"} 1x120`, `shardboard_balancer_window_seconds{cluster="c"} 14400x120`}},
	{"ShardboardBalancerOff", "off on purpose: somebody dismissed the problem", false, 0,
		[]string{`shardboard_balancer_enabled{cluster="c"} 0x120`, `shardboard_problems{cluster="c",rule="balancer-off"} 0x120`,
			`shardboard_problems{cluster="c",rule="balancing-paused"} 0x120`}},
	{"ShardboardBalancerOff", "off, and listed", true, 0,
		[]string{`shardboard_balancer_enabled{cluster="c"} 0x120`, `shardboard_problems{cluster="c",rule="balancer-off"} 1x120`}},
	{"ShardboardBalancerOff", "a run left it off, which is another problem", true, 0,
		[]string{`shardboard_balancer_enabled{cluster="c"} 0x120`, `shardboard_problems{cluster="c",rule="balancer-off"} 0x120`,
			`shardboard_problems{cluster="c",rule="balancing-paused"} 1x120`}},
	{"ShardboardMovesFailing", "one failure now and then", false, 0,
		[]string{`shardboard_move_failures_total{cluster="c",collection="db.x",shard="s"} 0x70 1x50`}},
	{"ShardboardMovesFailing", "a replica that starts counts from 0 again", false, 0,
		[]string{`shardboard_move_failures_total{cluster="c",collection="db.x",shard="s"} 40x80 0x40`}},
	{"ShardboardAlertsNotDelivered", "each replica knows of the same failures: one alert", true, 0,
		[]string{`shardboard_alert_failed_deliveries{receiver="r",instance="a"} 4x120`,
			`shardboard_alert_failed_deliveries{receiver="r",instance="b"} 4x120`}},
	{"ShardboardShardNearFull", "a shard that was removed", false, 0,
		[]string{`shardboard_shard_disk_used_bytes{cluster="c",shard="s"} 99x60 _x60`,
			`shardboard_shard_disk_size_bytes{cluster="c",shard="s"} 100x60 _x60`}},
}

func TestAlertsAreQuietInCalmStatesAndSeeTroubleWithoutSeries(t *testing.T) {
	all := rules(t)
	for _, s := range states {
		r, ok := all[s.alert]
		if !ok {
			t.Errorf("%s is no alert", s.alert)
			continue
		}
		if s.step == 0 {
			s.step = time.Minute
		}
		want := 0
		if s.fires {
			want = 1
		}
		if is := found(t, r, s.series, s.step); len(is) != want {
			t.Errorf("%s, %s: found %v; fires should be %t", s.alert, s.state, is, s.fires)
		}
	}
}

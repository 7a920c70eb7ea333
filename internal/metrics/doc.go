// Package metrics tells Prometheus where data is and how shardboard itself does. It promises:
//
//   - the number of series is bounded, whatever the cluster holds (MaxSeries);
//   - what is not known is absent, never 0, and estimates have "estimated" in their name;
//   - names from the cluster are cut and made printable, and stay different from each other;
//   - names and ids of projects appear only where ProjectLabels allows it;
//   - a scrape reads memory only, and sums that are kept with the chunks.
//
// docs/metrics.md lists everything that /metrics has; a test compares it.
package metrics

// Package prometheus tests the rules, the dashboard and the configuration in deploy/ with Prometheus' own parser
// and engine, and against /metrics of a running demo. It is a separate module, so that Prometheus is not part of
// the product.
package prometheus

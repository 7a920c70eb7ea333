package app

import (
	"context"

	"shardboard/internal/api"
)

// TestAlerts sends a test message to one alert receiver and returns all receivers with their last deliveries.
func (r Remote) TestAlerts(ctx context.Context, receiver string) (list api.Alerts, err error) {
	err = r.Do(ctx, "POST", api.Prefix+"/alerts/test", api.AlertTest{Target: receiver}, &list)
	return list, err
}

package operators

import (
	"context"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// runNetwork plays the part of the network operator that others wait for: the Proxy's status with everything that must not go through it.
func runNetwork(ctx context.Context, e *Env) {
	e.loop(ctx, "network", configResources("proxies"), func(ctx context.Context) error {
		proxy, err := e.Config.Proxies().Get(ctx, "cluster", metav1.GetOptions{})
		if err != nil {
			return fmt.Errorf("reading the Proxy: %w", err)
		}
		want := proxy.Status
		want.HTTPProxy, want.HTTPSProxy, want.NoProxy = proxy.Spec.HTTPProxy, proxy.Spec.HTTPSProxy, ""
		if want.HTTPProxy+want.HTTPSProxy != "" {
			skip := []string{".cluster.local", ".svc", "10.128.0.0/14", "127.0.0.1", "172.30.0.0/16", "api-int." + e.Domain, "localhost"}
			for _, s := range strings.Split(proxy.Spec.NoProxy, ",") {
				if s != "" {
					skip = append(skip, s)
				}
			}
			want.NoProxy = strings.Join(sorted(skip), ",")
		}
		if want == proxy.Status {
			return nil
		}
		proxy.Status = want
		if _, err := e.Config.Proxies().UpdateStatus(ctx, proxy, metav1.UpdateOptions{}); err != nil {
			return fmt.Errorf("writing the Proxy's status: %w", err)
		}
		return nil
	})
}

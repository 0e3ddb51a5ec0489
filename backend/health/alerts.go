package health

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"touchdown/backend/check"
	"touchdown/backend/kube"
	"touchdown/backend/message"
)

// Alerts is what the cluster's own monitoring says.
type Alerts struct {
	Skip    message.Text // why nobody asked
	Active  []Alert
	OwnTime bool // as in Options
}

// Alert is one of Prometheus.
type Alert struct {
	State       string            `json:"state"` // firing; pending ones may still pass
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
	ActiveAt    time.Time         `json:"activeAt"` // when its condition became true
}

// Where the platform's Prometheus is, who may ask it, and how much of its answer is read: some hundred alerts take 100 KB.
const (
	monitoring = "openshift-monitoring"
	prometheus = "prometheus-k8s"
	mostAlerts = 4 << 20
	tokenLife  = int64(600) // seconds; the API gives none that is shorter
)

// alertsTime bounds a look at the alerts; tests on a busy machine give it more.
var alertsTime = 10 * time.Second

// rollOutTime is how long an alert may be of the move itself: operators roll out one after the other, and the longest `for:` of the rules that
// this sets off is 15 minutes (TargetDown).
const rollOutTime = 30 * time.Minute

// watchdog fires for as long as Prometheus evaluates its rules.
const watchdog = "Watchdog"

// alertWords say in a few words what the commonest alerts of a single node mean. Others are told by their own summary.
var alertWords = map[string]message.Text{
	"AlertmanagerReceiversNotConfigured":              message.T("nobody is told of alerts: Alertmanager has no receiver"),
	"CannotRetrieveUpdates":                           message.T("the update service does not answer; normal for a site without the internet"),
	"TelemeterClientFailures":                         message.T("Red Hat's telemetry does not answer; normal for a site without the internet"),
	"SamplesImagestreamImportFailing":                 message.T("images of the samples cannot be imported; normal for a site without the internet"),
	"SamplesRetriesMissingOnImagestreamImportFailing": message.T("images of the samples cannot be imported; normal for a site without the internet"),
	"ClusterOperatorDown":                             message.T("a service of the cluster does not work"),
	"ClusterOperatorDegraded":                         message.T("a service of the cluster works with faults"),
	"KubePodCrashLooping":                             message.T("a pod keeps crashing"),
	"KubePodNotReady":                                 message.T("a pod does not become ready"),
	"TargetDown":                                      message.T("something that monitoring watches does not answer it"),
	"NodeClockNotSynchronising":                       message.T("the node's clock follows no time server; normal where the site has none"),
	"NodeFilesystemAlmostOutOfSpace":                  message.T("a file system of the node is almost full"),
	"NodeFilesystemSpaceFillingUp":                    message.T("a file system of the node is filling up"),
	"SystemMemoryExceedsReservation":                  message.T("the node's own programs use more memory than is set aside for them"),
	"etcdHighFsyncDurations":                          message.T("the disk writes too slowly for etcd"),
	"OperatorHubSourceError":                          message.T("a catalog of operators does not answer; installed operators run without it"),
	"HighOverallControlPlaneMemory":                   message.T("over 60 % of the memory is used; that limit is for three nodes"),
	"PodDisruptionBudgetAtLimit":                      message.T("a disruption budget has no room, which holds up no work on the only node"),
	"KubeAPIErrorBudgetBurn":                          message.T("requests to the API failed or took long, as at each of its restarts"),
}

// readAlerts asks Prometheus itself, as OpenShift's own tests do, with a short-lived token of its service account (openshift/library-go
// test/library/metrics/query.go): it takes no client certificate, and the API server's proxy passes no token on. It asks the pod, which a
// node reaches without names and router. A token is kept nowhere, and asking for one changes nothing.
func (w *Wide) readAlerts(ctx context.Context, c *kube.Cluster, server string) error {
	ctx, cancel := context.WithTimeout(ctx, alertsTime)
	defer cancel()
	bundle, err := c.Core.ConfigMaps(monitoring).Get(ctx, "openshift-service-ca.crt", metav1.GetOptions{})
	if err != nil {
		return err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM([]byte(bundle.Data["service-ca.crt"])) {
		return errors.New("the ConfigMap openshift-service-ca.crt holds no certificate")
	}
	life := tokenLife
	token, err := c.Core.ServiceAccounts(monitoring).CreateToken(ctx, prometheus,
		&authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &life}}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	w.Alerts.Active, err = askAlerts(ctx, server, token.Status.Token, roots)
	return err
}

// askAlerts sends the token to nobody but a server that proves to be Prometheus: no proxy, no other place.
func askAlerts(ctx context.Context, server, token string, roots *x509.CertPool) ([]Alert, error) {
	transport := &http.Transport{
		TLSClientConfig:   &tls.Config{RootCAs: roots, ServerName: prometheus + "." + monitoring + ".svc", MinVersion: tls.VersionTLS12},
		DisableKeepAlives: true,
	}
	client := http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+server+"/api/v1/alerts", nil)
	if err != nil {
		return nil, fmt.Errorf("asking Prometheus: %w", err)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	response, err := client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("asking Prometheus: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("asking Prometheus: it answers %d", response.StatusCode)
	}
	var answer struct {
		Data struct {
			Alerts []Alert `json:"alerts"`
		} `json:"data"`
	}
	if err := json.NewDecoder(io.LimitReader(response.Body, mostAlerts)).Decode(&answer); err != nil {
		return nil, fmt.Errorf("reading the answer of Prometheus: %w", err)
	}
	return answer.Data.Alerts, nil
}

// prometheusAt is where a ready Prometheus of the platform listens for those who may ask it, or why nobody can be asked.
func (s *State) prometheusAt() (server string, skip message.Text) {
	if s.Errors["pods"] != nil {
		return "", message.T("the pods could not be read")
	}
	skip = message.F("this cluster has no monitoring (%s has no pod of Prometheus)", monitoring)
	for i := range s.Pods {
		p := &s.Pods[i]
		if p.Namespace != monitoring || p.Labels["prometheus"] != "k8s" {
			continue
		}
		ready := slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
		})
		if ready && p.Status.PodIP != "" {
			return net.JoinHostPort(p.Status.PodIP, "9091"), message.Text{}
		}
		skip = message.F("Prometheus is not ready (%s)", monitoring+"/"+p.Name)
	}
	return "", skip
}

// judgeAlerts never fails, and warns only of what has fired for long: an alert may come from the move itself, and another check fails for
// each cause that matters to a landing. A Prometheus that does not answer is not a fault either.
func judgeAlerts(s *State) check.Check {
	c := check.Check{
		ID: "alerts", Title: message.T("Alerts of the cluster's monitoring"), Expected: message.T("none of severity warning or critical for 30 minutes"),
		Source: message.T("Prometheus of openshift-monitoring: /api/v1/alerts"),
		Fix:    message.T("Look at what is named; alerts pass a few minutes after their cause. The web console shows them under Observe, Alerting."),
	}
	if c, no := unreadWide(s, c, "alerts"); no {
		c.Status, c.Fix = check.Skip, message.Text{}
		return c
	}
	if s.Wide.Alerts.Skip != (message.Text{}) {
		c.Status, c.Observed, c.Fix = check.Skip, message.F("not asked: %s", s.Wide.Alerts.Skip), message.Text{}
		return c
	}
	evaluated := false
	critical, others := map[message.Text]int{}, map[message.Text]int{}
	for _, a := range s.Wide.Alerts.Active {
		severity := a.Labels["severity"]
		switch {
		case a.State != "firing":
		case a.Labels["alertname"] == watchdog:
			evaluated = true
		case severity == "none" || severity == "info":
		case s.expects(a), s.age(a.ActiveAt) < rollOutTime+a.burn():
			c.Evidence = append(c.Evidence, a.text())
		case severity == "critical":
			critical[a.text()]++
		default:
			others[a.text()]++
		}
	}
	sorted(c.Evidence)
	c.Evidence = slices.Compact(c.Evidence)
	c.Evidence = c.Evidence[:min(len(c.Evidence), 40)]
	worst := append(most(critical), most(others)...)
	if !evaluated && len(worst) == 0 {
		c.Status, c.Observed = check.Skip, message.F("not known: the alert %s, which always fires, does not", watchdog)
		c.Fix = message.T("Nothing in the first minutes of Prometheus. Later, look at its pods in openshift-monitoring.")
		return c
	}
	return found(c, check.Warn, worst, message.T("none that has fired for long"))
}

// text says what fires, where and what it means.
func (a Alert) text() message.Text {
	where := a.Labels["namespace"]
	for _, label := range []string{"pod", "name", "deployment", "daemonset", "statefulset", "job", "device", "instance"} {
		if a.Labels[label] != "" {
			where = strings.TrimPrefix(where+"/"+a.Labels[label], "/")
			break
		}
	}
	if where != "" {
		where = " (" + where + ")"
	}
	name := a.Labels["alertname"]
	says := alertWords[name]
	if says == (message.Text{}) {
		says = message.Data(firstLine(cmp.Or(a.Annotations["summary"], a.Annotations["description"], a.Annotations["message"])))
	}
	return message.F("%s: %s: %s", cmp.Or(a.Labels["severity"], "warning"), name+where, says)
}

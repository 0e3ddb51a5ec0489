// Command staticpods is that part of OpenShift's kube-apiserver operator which decides on roll-outs, for a cluster of the bench:
// library-go's own controllers of static pods (revision, installer, node, state, fallback, missing pod) and of the ClusterOperator's
// status. The rest of the operator is not in library-go: the bench plays its config observers, and what a kubelet would do.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	operatorv1 "github.com/openshift/api/operator/v1"
	configclient "github.com/openshift/client-go/config/clientset/versioned"
	configinformers "github.com/openshift/client-go/config/informers/externalversions"
	"github.com/openshift/library-go/pkg/operator/events"
	"github.com/openshift/library-go/pkg/operator/genericoperatorclient"
	"github.com/openshift/library-go/pkg/operator/revisioncontroller"
	"github.com/openshift/library-go/pkg/operator/staticpod"
	"github.com/openshift/library-go/pkg/operator/status"
	"github.com/openshift/library-go/pkg/operator/v1helpers"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/utils/clock"
)

const (
	operand   = "kube-apiserver"
	namespace = "openshift-kube-apiserver"
)

// revisioned are those of the operator's RevisionConfigMaps that a cluster of the bench has. The first holds the pod.
var revisioned = []revisioncontroller.RevisionResource{
	{Name: "kube-apiserver-pod"}, {Name: "config"}, {Name: "oauth-metadata", Optional: true},
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "staticpods:", err)
		os.Exit(1)
	}
}

// run works until standard input ends, so that no operator outlives its test. How long a server has to be ready before the next
// step is 30 s in the operator (cluster-kube-apiserver-operator, pkg/operator/starter.go, WithMinReadyDuration); the test shortens it.
func run() error {
	if len(os.Args) != 3 {
		return fmt.Errorf("usage: staticpods KUBECONFIG MINREADY")
	}
	minReady, err := time.ParseDuration(os.Args[2])
	if err != nil {
		return fmt.Errorf("reading the arguments: %w", err)
	}
	config, err := clientcmd.BuildConfigFromFlags("", os.Args[1])
	if err != nil {
		return fmt.Errorf("reading the kubeconfig: %w", err)
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	if err := start(ctx, config, minReady); err != nil {
		return err
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	return nil
}

// start starts the controllers as the operator's RunOperator does.
func start(ctx context.Context, config *rest.Config, minReady time.Duration) error {
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("making the kubernetes client: %w", err)
	}
	openshift, err := configclient.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("making the config client: %w", err)
	}
	now := clock.RealClock{}
	operator, operators, err := genericoperatorclient.NewStaticPodOperatorClient(now, config,
		operatorv1.GroupVersion.WithResource("kubeapiservers"), operatorv1.GroupVersion.WithKind("KubeAPIServer"), specOf, statusOf)
	if err != nil {
		return fmt.Errorf("making the operator client: %w", err)
	}
	in := v1helpers.NewKubeInformersForNamespaces(kube, "", namespace)
	configs := configinformers.NewSharedInformerFactory(openshift, 10*time.Minute)
	cluster := informers.NewSharedInformerFactory(kube, 10*time.Minute)
	recorder, versions := events.NewLoggingEventRecorder("bench", now), status.NewVersionGetter()

	pods, err := staticpod.NewBuilder(operator, kube, in, cluster, configs, now).
		WithEvents(recorder).
		WithInstaller([]string{"cluster-kube-apiserver-operator", "installer"}).
		WithMinReadyDuration(minReady).
		WithStartupMonitor(func() (bool, error) { return true, nil }). // a single node has one
		WithOperandPodLabelSelector(labels.Set{"apiserver": "true"}.AsSelector()).
		WithRevisionedResources(namespace, operand, revisioned, nil).
		WithVersioning(operand, versions).
		ToControllers()
	if err != nil {
		return fmt.Errorf("making the controllers of static pods: %w", err)
	}
	says := status.NewClusterOperatorStatusController(operand, nil, openshift.ConfigV1(), configs.Config().V1().ClusterOperators(), operator, versions, recorder, now)

	in.Start(ctx.Done())
	configs.Start(ctx.Done())
	cluster.Start(ctx.Done())
	operators.Start(ctx.Done())
	go pods.Start(ctx)
	go says.Run(ctx, 1)
	return nil
}

package operators

import (
	"context"
	"fmt"

	operatorv1 "github.com/openshift/api/operator/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	kcm          = "kube-controller-manager"
	kcmNamespace = "openshift-kube-controller-manager"
	kcmCA        = "serviceaccount-ca"
)

// runKubeControllerManager plays a revision of kube-controller-manager: the router's certificate is part of the bundle that it gives
// to service accounts, and that bundle is revisioned (openshift/cluster-kube-controller-manager-operator, pkg/operator/starter.go,
// deploymentConfigMaps; targetconfigcontroller, default-ingress-cert).
func runKubeControllerManager(ctx context.Context, e *Env) {
	e.loop(ctx, kcm, []resource{core("configmaps")}, func(ctx context.Context) error { return reconcileKubeControllerManager(ctx, e) })
}

func reconcileKubeControllerManager(ctx context.Context, e *Env) error {
	op, err := e.Operator.KubeControllerManagers().Get(ctx, "cluster", metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("reading the revision of %s: %w", kcm, err)
	}
	from, err := e.Kube.CoreV1().ConfigMaps("openshift-config-managed").Get(ctx, "default-ingress-cert", metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("reading the router's certificate: %w", err)
	}
	const key = "ca-bundle.crt"
	want, latest := from.Data[key], op.Status.LatestAvailableRevision
	copied, err := e.Kube.CoreV1().ConfigMaps(kcmNamespace).Get(ctx, inputName(kcmCA, latest), metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("reading the bundle of %s: %w", kcm, err)
	}
	first := err != nil
	if first || copied.Data[key] != want {
		if !first {
			if err := e.Pace.Sleep(ctx, observe); err != nil {
				return err
			}
			latest++
		}
		for _, revision := range []int32{0, latest} {
			if err := e.setConfigMap(ctx, kcmNamespace, inputName(kcmCA, revision), key, want); err != nil {
				return err
			}
		}
	}
	if latest == op.Status.NodeStatuses[0].CurrentRevision {
		return nil
	}
	return e.reviseKCM(ctx, latest)
}

func (e *Env) reviseKCM(ctx context.Context, latest int32) error {
	if err := e.Pace.Sleep(ctx, newRevisionIn); err != nil {
		return err
	}
	if err := e.updateKCM(ctx, func(s *operatorv1.StaticPodOperatorStatus) {
		s.LatestAvailableRevision, s.NodeStatuses[0].TargetRevision = latest, latest
		tellInstalled(s)
	}); err != nil {
		return err
	}
	message := fmt.Sprintf("NodeInstallerProgressing: 1 node is at revision %d; 0 nodes have achieved new revision %d", latest-1, latest)
	return e.rollOut(ctx, kcm, message, installer+kcmOutage, func(ctx context.Context) error {
		return e.updateKCM(ctx, func(s *operatorv1.StaticPodOperatorStatus) {
			s.NodeStatuses[0].CurrentRevision, s.NodeStatuses[0].TargetRevision = latest, 0
			tellInstalled(s)
		})
	})
}

func (e *Env) updateKCM(ctx context.Context, change func(*operatorv1.StaticPodOperatorStatus)) error {
	err := e.retry(ctx, func() error {
		o, err := e.Operator.KubeControllerManagers().Get(ctx, "cluster", metav1.GetOptions{})
		if err != nil {
			return err
		}
		change(&o.Status.StaticPodOperatorStatus)
		_, err = e.Operator.KubeControllerManagers().UpdateStatus(ctx, o, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		return fmt.Errorf("changing the revision of %s: %w", kcm, err)
	}
	return nil
}

package dev.parley.trust.cards;

import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.OctetKeyPair;
import com.nimbusds.jose.jwk.RSAKey;
import java.security.GeneralSecurityException;
import java.security.Signature;
import java.security.spec.MGF1ParameterSpec;
import java.security.spec.PSSParameterSpec;
import org.jspecify.annotations.Nullable;

/**
 * Algorithms of card signatures. None works without a key, or with a key that both sides know.
 *
 * <p>Source: RFC 7518, section 3.1; RFC 8037, section 3.1; RFC 9864.
 */
enum JwsAlgorithm {
    ES256("SHA256withECDSAinP1363Format", "ES256"),
    ES384("SHA384withECDSAinP1363Format", "ES384"),
    EDDSA("Ed25519", "EdDSA", "Ed25519"),
    RS256("SHA256withRSA", "RS256"),
    PS256("RSASSA-PSS", "PS256"),
    PS384("RSASSA-PSS", "PS384");

    private final String ofJava;
    private final String label;
    private final String newLabel;

    JwsAlgorithm(String ofJava, String label) {
        this(ofJava, label, label);
    }

    JwsAlgorithm(String ofJava, String label, String newLabel) {
        this.ofJava = ofJava;
        this.label = label;
        this.newLabel = newLabel;
    }

    /** Name in headers. */
    String label() {
        return label;
    }

    /** The algorithm that a header names; null for all that are not accepted. */
    static @Nullable JwsAlgorithm named(String label) {
        for (JwsAlgorithm one : values()) {
            if (one.isCalled(label)) {
                return one;
            }
        }
        return null;
    }

    private boolean isCalled(String name) {
        return name.equals(label) || name.equals(newLabel);
    }

    /** True if a key is of its kind, and not meant for another one. */
    boolean suits(JWK key) {
        boolean kind = switch (this) {
            case ES256 -> key instanceof ECKey ec && Curve.P_256.equals(ec.getCurve());
            case ES384 -> key instanceof ECKey ec && Curve.P_384.equals(ec.getCurve());
            case EDDSA -> key instanceof OctetKeyPair pair && Curve.Ed25519.equals(pair.getCurve());
            case RS256, PS256, PS384 -> key instanceof RSAKey;
        };
        return kind
                && (key.getAlgorithm() == null || isCalled(key.getAlgorithm().getName()));
    }

    Signature signature() throws GeneralSecurityException {
        Signature signature = Signature.getInstance(ofJava);
        if (this == PS256) {
            signature.setParameter(new PSSParameterSpec("SHA-256", "MGF1", MGF1ParameterSpec.SHA256, 32, 1));
        } else if (this == PS384) {
            signature.setParameter(new PSSParameterSpec("SHA-384", "MGF1", MGF1ParameterSpec.SHA384, 48, 1));
        }
        return signature;
    }
}

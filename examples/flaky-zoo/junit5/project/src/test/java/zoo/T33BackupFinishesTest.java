package zoo;

import org.junit.jupiter.api.Test;

/** The backup job ends and frees the port. */
class T33BackupFinishesTest {
    @Test
    public void backup_job_finishes_and_frees_the_port() throws Exception {
        Backup.finish();
    }
}

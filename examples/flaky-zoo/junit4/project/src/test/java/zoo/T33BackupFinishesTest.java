package zoo;

import org.junit.Test;

/** The backup job ends and frees the port. */
public class T33BackupFinishesTest {
    @Test
    public void backup_job_finishes_and_frees_the_port() throws Exception {
        Backup.finish();
    }
}
